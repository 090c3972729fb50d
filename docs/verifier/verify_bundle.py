#!/usr/bin/env python3
"""Checks an audit bundle of Foldback, knowing only docs/event-format.md.

    python3 docs/verifier/verify_bundle.py BUNDLE [VERIFYING_KEY]

The tables of that page are read and taken as the format: nothing of Foldback's code is used, so what
holds here shows that the page is true. Python 3.9 and its standard library are enough; the package
`blake3`, where it is installed, makes it quick.

Checked are the digest of the file, each record and its one form, the chain of the events, the digests
of policies and of recorded assemblies, the sealed digest of each payload against the events that name
it, and the attestation: its proof, and its signature if a key is given. Decisions are not made again:
`foldback audit` does that.

Exit code 0: all of it holds. 1: it does not; the first thing that does not is named. 2: wrong use.
"""

import base64
import hashlib
import json
import re
import struct
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "event-format.md"


class Wrong(Exception):
    """Something that does not hold."""


def need(holds, what):
    if not holds:
        raise Wrong(what)


# --- BLAKE3 ---------------------------------------------------------------------------------------

IV = (
    0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19,
)
PERMUTATION = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
CHUNK_START, CHUNK_END, PARENT, ROOT, KEY_CONTEXT, KEY_MATERIAL = 1, 2, 4, 8, 32, 64
MASK = 0xFFFFFFFF


def compress(chain, block, counter, length, flags):
    v = list(chain) + list(IV[:4]) + [counter & MASK, counter >> 32, length, flags]
    m = list(block)

    def mix(a, b, c, d, x, y):
        for word, first, second in ((x, 16, 12), (y, 8, 7)):
            v[a] = (v[a] + v[b] + word) & MASK
            v[d] ^= v[a]
            v[d] = (v[d] >> first | v[d] << (32 - first)) & MASK
            v[c] = (v[c] + v[d]) & MASK
            v[b] ^= v[c]
            v[b] = (v[b] >> second | v[b] << (32 - second)) & MASK

    for turn in range(7):
        mix(0, 4, 8, 12, m[0], m[1])
        mix(1, 5, 9, 13, m[2], m[3])
        mix(2, 6, 10, 14, m[4], m[5])
        mix(3, 7, 11, 15, m[6], m[7])
        mix(0, 5, 10, 15, m[8], m[9])
        mix(1, 6, 11, 12, m[10], m[11])
        mix(2, 7, 8, 13, m[12], m[13])
        mix(3, 4, 9, 14, m[14], m[15])
        if turn < 6:
            m = [m[at] for at in PERMUTATION]
    return [v[at] ^ v[at + 8] for at in range(8)]


def words(block):
    return struct.unpack("<16I", block.ljust(64, b"\0"))


def tree_hash(key, data, flags):
    """Hashes data under a key of eight words; gives 32 bytes."""

    def chunk(part, number, last):
        blocks = [part[at:at + 64] for at in range(0, len(part), 64)] or [b""]
        chain = key
        for at, block in enumerate(blocks):
            own = flags | (CHUNK_START if at == 0 else 0)
            if at == len(blocks) - 1:
                own |= CHUNK_END | last
            chain = compress(chain, words(block), number, len(block), own)
        return chain

    def node(first, count, last):
        if count == 1:
            return chunk(data[first * 1024:(first + 1) * 1024], first, last)
        left = 1 << ((count - 1).bit_length() - 1)
        pair = node(first, left, 0) + node(first + left, count - left, 0)
        return compress(key, pair, 0, 64, flags | PARENT | last)

    root = node(0, max(1, -(-len(data) // 1024)), ROOT)
    return struct.pack("<8I", *root)


def blake3_derive(context, data):
    """BLAKE3 in its mode of key derivation."""
    try:
        from blake3 import blake3
    except ImportError:
        key = tree_hash(IV, context.encode(), KEY_CONTEXT)
        return tree_hash(struct.unpack("<8I", key), data, KEY_MATERIAL)
    return blake3(data, derive_key_context=context).digest()


# --- Ed25519 (RFC 8032, section 5.1.7) ------------------------------------------------------------

P = 2 ** 255 - 19
ORDER = 2 ** 252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P


def point_add(a, b):
    (x1, y1, z1, t1), (x2, y2, z2, t2) = a, b
    A, B = (y1 - x1) * (y2 - x2) % P, (y1 + x1) * (y2 + x2) % P
    C, E = 2 * t1 * t2 * D % P, 2 * z1 * z2 % P
    e, f, g, h = B - A, E - C, E + C, B + A
    return e * f % P, g * h % P, f * g % P, e * h % P


def point_times(factor, point):
    out = (0, 1, 1, 0)
    while factor:
        if factor & 1:
            out = point_add(out, point)
        point, factor = point_add(point, point), factor >> 1
    return out


def point_read(data):
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2 ** 255 - 1)
    need(y < P, "a point of a key or signature is none")
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    need((x * x - square) % P == 0, "a point of a key or signature is none")
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


def ed25519_holds(public, text, signature):
    base_y = 4 * pow(5, P - 2, P) % P
    base = point_read(base_y.to_bytes(32, "little"))
    key, r = point_read(public), point_read(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if s >= ORDER:
        return False
    digest = hashlib.sha512(signature[:32] + public + text).digest()
    h = int.from_bytes(digest, "little") % ORDER
    left, right = point_times(s, base), point_add(r, point_times(h, key))
    return (left[0] * right[2] - right[0] * left[2]) % P == 0 and (
        left[1] * right[2] - right[1] * left[2]
    ) % P == 0


# --- The page -------------------------------------------------------------------------------------


class Page:
    """The tables of docs/event-format.md."""

    def __init__(self, text):
        self.sections = {}
        for part in re.split(r"\n(?=#)", text):
            title = part.split("\n", 1)[0].lstrip("#").strip()
            self.sections[title] = part
        self.kinds = {}
        for title, part in self.sections.items():
            found = re.match(r"(\d+) `([a-z-]+)`, version (\d+)(, must be understood)?$", title)
            if found:
                number, name, newest, must = found.groups()
                for version in range(1, int(newest) + 1):
                    self.kinds[int(number), version] = (name, self.fields(part, version), bool(must))

    @staticmethod
    def fields(part, version=None):
        out = []
        for line in part.split("\n"):
            found = re.match(r"\| `([a-z0-9_]+)` \| `([^`]+)`", line)
            since = re.search(r" Since version (\d+)\.", line)
            if found and (since is None or version is None or int(since[1]) <= version):
                out.append(found.groups())
        return out

    def named(self, name):
        """A structure's fields, or an enum's numbers."""
        part = self.sections.get(name)
        need(part is not None, f"the page does not tell what `{name}` is")
        fields = self.fields(part)
        numbers = re.findall(r"^\| (\d+) \| `([^`]+)`", part, re.M)
        return fields, {int(number): text for number, text in numbers}

    def header(self):
        return self.fields(self.sections["4. Record"])


class Reader:
    """Reads values as section 2 of the page says, and only in their one form."""

    def __init__(self, page, data):
        self.page, self.data, self.at = page, data, 0
        self.places = {}

    def take(self, count):
        need(self.at + count <= len(self.data), "a record ends too early")
        self.at += count
        return self.data[self.at - count:self.at]

    def varint(self, widest=8):
        first = self.take(1)[0]
        if first <= 250:
            return first
        width = {251: 2, 252: 4, 253: 8}.get(first, 99)
        need(width <= widest, "a number is wider than its type")
        number = int.from_bytes(self.take(width), "little")
        least = {2: 251, 4: 1 << 16, 8: 1 << 32}[width]
        need(number >= least, "a number is not in its shortest form")
        return number

    def value(self, kind):
        outer = re.match(r"(Option|Vec)<(.*)>$", kind)
        if outer and outer[1] == "Option":
            there = self.take(1)[0]
            need(there < 2, "an option is neither there nor absent")
            return self.value(outer[2]) if there else None
        if outer:
            return [self.value(outer[2]) for _ in range(self.varint())]
        if kind.startswith("("):
            return [self.value(part) for part in kind[1:-1].split(", ")]
        if kind.startswith("[u8; "):
            return self.take(int(kind[5:-1]))
        plain = {"u16": 2, "u32": 4, "u64": 8}
        if kind in plain:
            return self.varint(plain[kind])
        if kind in ("i64", "Micros"):
            number = self.varint()
            return number // 2 if number % 2 == 0 else -(number + 1) // 2
        if kind == "bool":
            byte = self.take(1)[0]
            need(byte < 2, "a bool is neither 0 nor 1")
            return bool(byte)
        if kind == "Digest":
            return self.take(32)
        if kind == "ShortDigest" or kind.endswith("Id"):
            return self.take(16)
        if kind == "Label":
            text = self.take(self.varint())
            need(re.fullmatch(rb"[A-Za-z0-9_\-.:/@+]{1,128}", text), "a label is none")
            return text.decode()
        fields, numbers = self.page.named(kind)
        if fields:
            return self.all(fields)
        number = self.varint(2)
        need(number in numbers, f"{number} is no number of `{kind}`")
        return numbers[number]

    def all(self, fields, places=False):
        out = {}
        for name, kind in fields:
            start = self.at
            out[name] = self.value(kind)
            if places:
                self.places[name] = (start, self.at)
        return out


def read_record(page, record):
    need(0 < len(record) <= 4194304, "a record is empty or over the limit")
    need(record[0] == 1, "a record is of another version")
    reader = Reader(page, record)
    reader.at = 1
    header = reader.all(page.header())
    known = page.kinds.get((header["kind"], header["kind_version"]))
    if known is None:
        return header, None, None, reader
    name, fields, must = known
    need(header["must_understand"] == must, f"`{name}` says otherwise whether it must be understood")
    body = reader.all(fields, places=True)
    need(reader.at == len(record), f"`{name}` has bytes left over")
    return header, name, body, reader


def payloads(value):
    """Every reference to a payload in a body: a structure with an address and a sealed digest."""
    if isinstance(value, dict):
        if "sealed_digest" in value:
            yield value
        for inner in value.values():
            yield from payloads(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from payloads(inner)


# --- The bundle -----------------------------------------------------------------------------------


def read_lines(data):
    need(data.endswith(b"\n"), "the last line does not end")
    start = data.rfind(b"\n", 0, -1) + 1
    lines = []
    for at, line in enumerate(data.split(b"\n")[:-1], 1):
        try:
            value = json.loads(line)
            again = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
        except (ValueError, UnicodeError) as error:
            raise Wrong(f"line {at} does not read: {error}") from error
        need(isinstance(value, dict) and again == line, f"line {at} is not in its one form")
        lines.append(value)
    end = lines.pop()
    need(end.get("line") == "end", "the end is missing: it was cut off")
    digest = blake3_derive("foldback 2026 audit bundle v1", data[:start]).hex()
    need(end == {"line": "end", "lines": len(lines), "digest": digest}, "the bundle was changed")
    return lines


def raw(text):
    return base64.b64decode(text, validate=True)


def id_bytes(text, tag):
    found = re.fullmatch(tag + r"_([0-9a-f]{32})", text)
    need(found, f"`{text}` is no id")
    return bytes.fromhex(found[1])


def check_assembly(record, body, reader):
    start, end = reader.places["request"][0], reader.places["tokens"][1]
    version, data = 1, record[start:end]
    if body["layout"] is not None if "layout" in body else False:
        first, last = reader.places["layout"]
        version, data = 2, data + record[first + 1:last]
    context = f"foldback 2026 assembly digest v{version}"
    need(blake3_derive(context, data) == body["digest"], "an assembly has another digest")


def check_events(page, header, lines):
    chain, live, gone, policies, count = bytes(32), {}, set(), {}, {}
    heads = []
    for expected, line in enumerate(lines, 1):
        where = f"event {expected}: "
        try:
            record = raw(line["record"])
            chain = blake3_derive("foldback 2026 event chain v1", chain + record)
            need(line["version"] == expected, "it stands at another place")
            need(chain.hex() == line["hash"], "the chain does not follow")
            head, name, body, reader = read_record(page, record)
            need(head["conversation"] == header["conversation"], "it is of another conversation")
            need(head["version"] == expected, "it says another version")
            if expected == 1 and name == "conversation-opened":
                need(body["account"] == header["account"], "it names another account")
            if name == "context-assembled":
                check_assembly(record, body, reader)
        except Wrong as error:
            raise Wrong(where + str(error)) from error
        heads.append(chain)
        count[name] = count.get(name, 0) + 1
        if name == "policy-registered":
            policies[body["digest"]] = None
        elif name == "payload-erased":
            live.pop(body["address"], None)
            gone.add(body["address"])
        elif name in ("conversation-erased", "account-erased"):
            gone.update(live)
            live.clear()
        elif body is not None:
            for payload in payloads(body):
                live.setdefault(payload["address"], set()).add(payload["sealed_digest"])
    return heads, live, gone, policies, count


def check_payload(header, line, live):
    address = bytes.fromhex(line["address"])
    need(address in live, "a payload is there that no event names, or that was erased")
    associated = header["account"] + address + struct.pack("<Q", line["plain_bytes"])
    associated += b"\1" if line["compressed"] else b"\0"
    data = associated + raw(line["nonce"]) + raw(line["sealed"])
    digest = blake3_derive("foldback 2026 sealed payload v1", data)
    need(live[address] == {digest}, f"the payload {line['address']} is not the one that events name")


def sha(data):
    return hashlib.sha256(data).digest()


def check_attestation(header, line, heads, key):
    text, mark, signatures = line["note"].rpartition("\n\n")
    need(mark, "the attestation is no signed note")
    text += "\n"
    origin, size, root = text.split("\n")[:3]
    need(origin == "foldback/" + header["store"], "the attestation is of another store")
    version, at, last = line["version"], line["index"], int(size) - 1
    need(0 < version <= len(heads) and at <= last, "the attestation proves no event of these")
    leaf = header["conversation"] + struct.pack(">Q", version) + heads[version - 1]
    node = sha(b"\0" + leaf)
    for beside in map(raw, line["proof"]):
        need(last > 0, "the proof is too long")
        if at % 2 or at == last:
            node = sha(b"\1" + beside + node)
            while at % 2 == 0 and at:
                at, last = at // 2, last // 2
        else:
            node = sha(b"\1" + node + beside)
        at, last = at // 2, last // 2
    need(last == 0 and node == raw(root), "the attestation does not cover the event it is said to")
    if key is None:
        return f"attested up to position {version}; signature not checked"
    name, digits, public = key.strip().split("+", 2)
    public = raw(public)
    identity = sha(name.encode() + b"\n" + public)[:4]
    need(public[:1] == b"\1" and identity.hex() == digits, "the key is no verifying key")
    for signed in signatures.strip("\n").split("\n"):
        dash, who, signature = signed.split(" ")
        signature = raw(signature)
        if dash == "—" and who == name and signature[:4] == identity:
            holds = ed25519_holds(public[1:], text.encode(), signature[4:])
            need(holds, f"the signature of {name} does not hold")
            return f"attested by {name} up to position {version}; signature checked"
    raise Wrong(f"{name} did not sign the attestation")


def check(data, key):
    page = Page(PAGE.read_text(encoding="utf-8"))
    lines = read_lines(data)
    first = lines.pop(0) if lines else {}
    need(first.get("line") == "bundle", "there is no first line that says what it is")
    need(first["bundle"] == "foldback.audit/1", "it is a bundle of another version")
    header = {
        "store": first["store"],
        "conversation": id_bytes(first["conversation"], "conv"),
        "account": id_bytes(first["account"], "acct"),
    }
    of = {}
    for line in lines:
        of.setdefault(line["line"], []).append(line)
    events = of.get("event", [])
    need(len(events) == first["events"], "there are not as many events as the first line says")
    heads, live, gone, policies, count = check_events(page, header, events)
    for line in of.get("policy", []):
        document = line["document"].encode()
        digest = blake3_derive("foldback 2026 policy document v1", document)
        need(digest.hex() == line["digest"], "a policy is another than its digest names")
        policies[digest] = True
    need(all(policies.values()), "a policy that events register is missing")
    for line in of.get("payload", []):
        check_payload(header, line, live)
    attested = "no attestation"
    if key is not None or "attestation" in of:
        need("attestation" in of, "it holds no attestation")
        attested = check_attestation(header, of["attestation"][0], heads, key)
    assemblies, shown = count.get("context-assembled", 0), len(of.get("payload", []))
    print(f"holds: {len(heads)} events, {assemblies} digests of assemblies, {shown} payloads")
    print(f"  head {heads[-1].hex() if heads else 'none'}")
    print(f"  {len(live)} payloads named, {len(gone)} erased")
    print(f"  {attested}")


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    key = sys.argv[2] if len(sys.argv) == 3 else None
    if key is not None and Path(key).exists():
        key = Path(key).read_text(encoding="utf-8")
    try:
        check(Path(sys.argv[1]).read_bytes(), key)
    except (Wrong, KeyError, TypeError, ValueError, RecursionError) as error:
        print(f"does NOT hold: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
