"""Foldback under the edits of agmi, the conformance suite of the package agent-memory-integrity.

    FOLDBACK=target/debug/foldback PYTHONPATH=crates/foldback-cli/tests/it/integrity:docs/verifier \
        python3 -m agmi.check --adapter foldback_adapter:AgainstAttestation

Five messages of one conversation are the records; a second conversation is the other context. The
attacker writes the segments of the log, and gets every length and crc right. There are two rows:

* `Verify`: `foldback verify` alone. The attacker edits records, and leaves chains and commits as they
  are: the threat model of the suite.
* `AgainstAttestation`: `foldback verify --against` an attestation that is kept outside the store. The
  attacker also numbers all events anew, and computes each chain and commit digest from what it wrote.

docs/security.md has the result.
"""

import copy
import json
import os
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

import verify_bundle as page_of
from agmi.adapters.base import MemoryAdapter, Record

PAGE = page_of.Page(page_of.PAGE.read_text(encoding="utf-8"))
TABLE = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    TABLE.append(byte)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def derive(context, data):
    return page_of.blake3_derive(context, data)


def frame(kind, seq, payload):
    head = b"FBK\1" + bytes([kind, 0, 0, 0]) + struct.pack("<I", len(payload))
    tail = struct.pack("<Q", seq) + payload
    return head + struct.pack("<I", crc32c(head + tail)) + tail


class Event:
    """An event frame, taken apart."""

    def __init__(self, seq, payload):
        self.seq = seq
        self.conversation, self.event_id = payload[:16], payload[24:40]
        self.version = struct.unpack("<Q", payload[16:24])[0]
        self.hash, self.record = payload[40:72], payload[72:]

    def payload(self):
        version = struct.pack("<Q", self.version)
        return self.conversation + version + self.event_id + self.hash + self.record

    def read(self):
        return page_of.read_record(PAGE, self.record)

    def parts(self):
        """The record's header up to the kind, and what it says."""
        reader = page_of.Reader(PAGE, self.record)
        reader.at = 1
        header = reader.all(PAGE.header(), places=True)
        at = reader.places["kind"][0]
        return self.record[:at], self.record[at:], header, reader.places

    def is_message(self):
        return self.read()[1] == "message-recorded"


class Commit:
    def __init__(self, payload):
        self.payload = payload


class Log:
    """The one segment of a small store: a list of event and commit frames."""

    def __init__(self, store):
        self.store = Path(store)
        (self.path,) = (self.store / "log").glob("*.seg")
        data = self.path.read_bytes()
        self.size, self.frames, at = len(data), [], 0
        while data[at:at + 3] == b"FBK":
            length = struct.unpack("<I", data[at + 8:at + 12])[0]
            seq = struct.unpack("<Q", data[at + 16:at + 24])[0]
            payload = data[at + 24:at + 24 + length]
            event = data[at + 4] == 1
            self.frames.append(Event(seq, payload) if event else Commit(payload))
            at += 24 + length

    def messages(self, conversation):
        events = [frame for frame in self.frames if isinstance(frame, Event)]
        return [e for e in events if e.conversation == conversation and e.is_message()]

    def conversations(self):
        out = []
        for event in self.frames:
            if isinstance(event, Event) and event.conversation not in out:
                out.append(event.conversation)
        return out

    def save(self, anew):
        if anew:
            self.compute_anew()
            # The mark that the log reached further is the attacker's to remove.
            (self.store / "log" / "synced").unlink(missing_ok=True)
        out, seq = b"", 0
        for part in self.frames:
            if isinstance(part, Event):
                seq = part.seq
                out += frame(1, part.seq, part.payload())
            else:
                out += frame(2, struct.unpack("<Q", part.payload[12:20])[0], part.payload)
        self.path.write_bytes(out.ljust(self.size, b"\0"))
        shutil.rmtree(self.store / "cache", ignore_errors=True)

    def compute_anew(self):
        """Makes the log whole in itself again: numbers, records, chains, commits."""
        store = (self.store / "STORE").read_text().split("id store_")[1][:32]
        digest = derive("foldback 2026 log genesis v1", bytes.fromhex(store))
        heads, versions, batch, begin, at, seq = {}, {}, [], 0, 0, 0
        for part in self.frames:
            if isinstance(part, Event):
                seq += 1
                who = part.conversation
                versions[who] = versions.get(who, 0) + 1
                part.seq, part.version = seq, versions[who]
                start, end = part.parts()[3]["version"]
                number = part.version
                coded = bytes([number]) if number < 251 else b"\xfb" + struct.pack("<H", number)
                part.record = part.record[:start] + coded + part.record[end:]
                chain = heads.get(who, bytes(32)) + part.record
                part.hash = heads[who] = derive("foldback 2026 event chain v1", chain)
                batch.append(part)
                at += 24 + len(part.payload())
                continue
            first = batch[0]
            fields = struct.pack(
                "<IQQQI", len(batch), first.seq, batch[-1].seq, first.version, begin
            )
            fields += part.payload[32:64]
            hashes = b"".join(event.hash for event in batch)
            digest = derive("foldback 2026 log commit v1", digest + fields + hashes)
            part.payload = fields + digest
            at += 24 + 96
            batch, begin = [], at


class Verify(MemoryAdapter):
    name = "foldback, `verify`"
    detection_point = "audit"
    supports_replay = supports_metadata = supports_snapshot = True
    attested = anew = False

    def run(self, *arguments):
        program = os.environ.get("FOLDBACK", "foldback")
        return subprocess.run(
            [program, *arguments], cwd=self.dir, capture_output=True, text=True, check=False
        )

    def told(self, *arguments):
        ran = self.run(*arguments)
        if ran.returncode:
            raise RuntimeError(ran.stderr)
        return ran.stdout

    # The tool's own ways.

    def setup(self):
        self.dir = tempfile.mkdtemp(prefix="foldback-agmi-")
        self.count = 0
        if self.attested:
            self.signer = self.told("keys", "new", "auditor", "key").strip()

    def teardown(self):
        shutil.rmtree(self.dir, ignore_errors=True)

    def bring(self, context, count):
        said = [
            {"role": "user", "content": f"{context} {n}: the limit is {40 + n}"} for n in range(count)
        ]
        Path(self.dir, f"{context}.json").write_text(json.dumps(said))
        self.told("import", f"{context}.json")

    def attest(self):
        if self.attested:
            Path(self.dir, "note").write_text(self.told("attest", "--key", "key"))

    def seed(self, n):
        self.count = n
        self.bring("first", n)
        self.attest()

    def seed_other(self, n):
        self.bring("second", n)
        self.attest()

    def append_genuine(self):
        self.count += 1
        self.bring("first", self.count)
        self.attest()

    def reload(self):
        """Each command opens the store anew."""

    def verify(self):
        against = ["--against", "note", "--signer", self.signer] if self.attested else []
        ran = self.run("verify", *against)
        told = (ran.stdout + ran.stderr).split("\n")
        self.verify_detail = None if ran.returncode == 0 else " ".join(told[:3])[:200]
        return ran.returncode == 0

    # The attacker's.

    def log(self):
        return Log(Path(self.dir, ".foldback"))

    @staticmethod
    def as_record(at, event):
        head, rest, header, _ = event.parts()
        fields = {"conversation": event.conversation.hex(), "event_id": event.event_id.hex()}
        fields |= {"rest": rest.hex(), "recorded_at": header["recorded_at"]}
        return Record(seq=at, fields=fields)

    def read(self, context):
        log = self.log()
        who = log.conversations()
        events = log.messages(who[context]) if context < len(who) else []
        return [self.as_record(at, event) for at, event in enumerate(events)]

    def read_all_raw(self):
        return self.read(0)

    def read_other_raw(self):
        return self.read(1)

    def change(self, at, edit):
        log = self.log()
        events = log.messages(log.conversations()[0])
        edit(log, events, events[at] if at < len(events) else None)
        log.save(self.anew)

    def write_raw(self, record):
        def edit(log, events, event):
            if event is None:
                event = copy.copy(events[-1])
                at = log.frames.index(events[-1]) + 1
                log.frames.insert(at, event)
            head = event.parts()[0]
            event.record = head + bytes.fromhex(record.fields["rest"])

        self.change(record.seq, edit)

    def delete_raw(self, seq):
        self.change(seq, lambda log, events, event: log.frames.remove(event))

    def replay_onto(self, victim_seq, donor):
        self.write_raw(Record(seq=victim_seq, fields=dict(donor.fields)))

    def mutate_payload(self, record):
        """Another payload of the vault takes the place of the message's own."""
        others = [r for r in self.read(0) if r.fields["rest"] != record.fields["rest"]]
        record.fields["rest"] = self.with_content(record.fields["rest"], others[0].fields["rest"])
        return record

    def forge_record(self, template):
        oldest = self.read(0)[0].fields["rest"]
        fields = dict(template.fields)
        fields["rest"] = self.with_content(fields["rest"], oldest)
        return Record(seq=template.seq + 1, fields=fields)

    @staticmethod
    def with_content(rest, donor):
        """Puts the content of one message into the body of another."""

        def content(body):
            reader = page_of.Reader(PAGE, bytes.fromhex(body))
            for _ in range(2):
                reader.varint()
            reader.take(1)
            reader.all(PAGE.kinds[4, 1][1], places=True)
            return reader.places["content"]

        (start, end), (first, last) = content(rest), content(donor)
        return rest[:2 * start] + donor[2 * first:2 * last] + rest[2 * end:]

    def read_meta(self, seq):
        return {"recorded_at": self.read(0)[seq].fields["recorded_at"]}

    def write_meta(self, seq, meta):
        def edit(log, events, event):
            start, end = event.parts()[3]["recorded_at"]
            number = int.from_bytes(event.record[start + 1:end], "little") + 2_000_000
            coded = event.record[start:start + 1] + number.to_bytes(end - start - 1, "little")
            event.record = event.record[:start] + coded + event.record[end:]

        self.change(seq, edit)

    def identity_of(self, record):
        return f"{record.fields['conversation']} {record.seq}"

    def payload_of(self, record):
        return record.fields["rest"]

    def owner_of(self, record):
        return record.fields["conversation"]

    def snapshot_store(self):
        return self._copy_store(Path(self.dir, ".foldback"))

    def restore_store(self, token):
        self._restore_store(token, Path(self.dir, ".foldback"))


class AgainstAttestation(Verify):
    name = "foldback, `verify --against` an attestation kept elsewhere"
    attested = anew = True
