//! The log in files: opening, appending through the writer, reading beside it.

use crate::bytes::index as to_index;
use crate::fetch::{self, Expected};
use crate::index::{Index, Segment, Tail};
use crate::log::check_limits;
use crate::manifest::{LOCK, Manifest};
use crate::recovery::{LogDir, Torn, io_error};
use crate::storage::{FsStorage, LockGuard, Storage};
use crate::writer::{Append, Message, Shared, Writer};
use crate::{
    AppendError, Appended, Cache, CacheUse, Capabilities, EventLog, Head, LogReport, NewEvent,
    OpenError, Partition, Position, ReadError, RecoveryReport, StoredEvent, Tip, cached_index,
    check,
};
use foldback_event::{BatchId, ConversationId, StoreId};
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::thread::JoinHandle;
use tokio::sync::{mpsc, oneshot, watch};

const READER_TRIES: u32 = 5;

/// How a file log is opened.
#[derive(Debug, Clone, Copy)]
pub struct LogOptions {
    /// The size of a full-grown segment: the first ones of a store are smaller. A batch that is
    /// larger gets a segment of its own size.
    pub segment_bytes: u32,
    /// How many appends wait in the queue before callers wait for a place.
    pub queue: usize,
    /// Whether to keep an index in `cache/`, on the file system whatever the storage.
    pub cache: bool,
    /// The id of the store where one is made; random where it is `None`.
    pub store: Option<StoreId>,
}

impl Default for LogOptions {
    fn default() -> Self {
        Self {
            segment_bytes: 8 * 1024 * 1024,
            queue: 1024,
            cache: true,
            store: None,
        }
    }
}

/// A log in files; clones share it.
///
/// Dropping the last clone closes the log: it waits until the writer has answered everything that
/// was queued.
#[derive(Debug, Clone)]
pub struct FileLog {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    shared: Arc<Shared>,
    manifest: Manifest,
    cache: Cache,
    // INVARIANT: both are there exactly while the log takes appends; `Drop` takes them.
    queue: Option<mpsc::Sender<Message>>,
    writer: Option<JoinHandle<()>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(writer) = self.writer.take() {
            // A writer that panicked has answered no one; its callers got *unknown*.
            let _ = writer.join();
        }
    }
}

impl FileLog {
    /// Opens the store in `dir` for writing, making it where the directory is empty or missing.
    pub fn open(dir: &Path, options: LogOptions) -> Result<(Self, RecoveryReport), OpenError> {
        Self::open_on(Arc::new(FsStorage), dir, options)
    }

    /// Opens a store for writing on a storage of the caller's.
    pub fn open_on(
        storage: Arc<dyn Storage>,
        dir: &Path,
        options: LogOptions,
    ) -> Result<(Self, RecoveryReport), OpenError> {
        let span = tracing::debug_span!("open");
        let _entered = span.enter();
        let (manifest, lock) = claim(&*storage, dir, options.store)?;
        let log = LogDir {
            storage,
            path: dir.join("log"),
        };
        make_dir(&*log.storage, dir, &log.path)?;
        log.remove_drafts()?;
        let (cache, mut why) = if options.cache {
            Cache::open(&dir.join("cache"), manifest.store)
        } else {
            (Cache::off(), None)
        };
        let genesis = manifest.genesis();
        let mut index = match cached_index::load(&cache, &log, genesis, true) {
            Ok(index) => index,
            Err(reason) => {
                cache.clear(manifest.store);
                why = Some(reason);
                Index::new(genesis)
            }
        };
        let cached = cached_index::known(&index);
        let used = index.count();
        let (torn, bad_mark) = log.read_on(&mut index, true)?;
        let cut = match &torn {
            Some(torn) => log.cut(&index, torn)?,
            None => None,
        };
        let report = RecoveryReport {
            events: index.count(),
            segments: crate::bytes::wide(index.segments.len()),
            cut,
            cache: match why {
                _ if !options.cache => CacheUse::Off,
                Some(why) => CacheUse::Rebuilt { why },
                None => CacheUse::Used { events: used },
            },
            bad_mark,
        };
        tracing::debug!(store = %manifest.store, count = report.events, "log opened");
        let shared = share(log, index);
        let (queue, receiver) = mpsc::channel(options.queue.max(1));
        let writer = Writer {
            shared: Arc::clone(&shared),
            queue: receiver,
            _lock: lock,
            segment_bytes: options.segment_bytes,
            cache: cache.clone(),
            cached,
            poisoned: false,
        };
        let thread = std::thread::Builder::new().name("foldback-log".to_owned());
        let writer = thread
            .spawn(move || writer.run())
            .map_err(io_error("start a thread for", dir))?;
        let inner = Inner {
            shared,
            manifest,
            cache,
            queue: Some(queue),
            writer: Some(writer),
        };
        Ok((
            Self {
                inner: Arc::new(inner),
            },
            report,
        ))
    }

    /// Opens the store in `dir` for reading, beside whoever writes. It takes no lock and changes
    /// nothing.
    pub fn open_read_only(dir: &Path) -> Result<(Self, RecoveryReport), OpenError> {
        Self::open_read_only_on(Arc::new(FsStorage), dir)
    }

    /// Opens a store for reading on a storage of the caller's.
    pub fn open_read_only_on(
        storage: Arc<dyn Storage>,
        dir: &Path,
    ) -> Result<(Self, RecoveryReport), OpenError> {
        let manifest = Manifest::read(&*storage, dir)?.ok_or_else(|| OpenError::NotAStore {
            path: dir.to_owned(),
            what: "it has no STORE file",
        })?;
        let log = LogDir {
            storage,
            path: dir.join("log"),
        };
        let mut index = Index::new(manifest.genesis());
        let (_, bad_mark) = read_beside_writer(&log, &mut index)?;
        let report = RecoveryReport {
            events: index.count(),
            segments: crate::bytes::wide(index.segments.len()),
            cut: None,
            cache: CacheUse::Off,
            bad_mark,
        };
        let inner = Inner {
            shared: share(log, index),
            manifest,
            cache: Cache::off(),
            queue: None,
            writer: None,
        };
        Ok((
            Self {
                inner: Arc::new(inner),
            },
            report,
        ))
    }

    /// Reads what a writer elsewhere has added since; for a log that was opened for reading.
    pub fn refresh(&self) -> Result<(), OpenError> {
        if self.inner.queue.is_some() {
            return Ok(());
        }
        let shared = &self.inner.shared;
        let seq = {
            let index = shared.index.write();
            let mut index = index.unwrap_or_else(PoisonError::into_inner);
            read_beside_writer(&shared.dir, &mut index)?;
            index.tail.seq
        };
        shared.tip.send_replace(tip(seq));
        Ok(())
    }

    /// Closes the log: waits for the writer to answer everything queued and to give the lock back.
    ///
    /// Appends through other clones are refused from then on; reads go on.
    pub async fn close(self) {
        let (done, closed) = oneshot::channel();
        if let Some(queue) = &self.inner.queue
            && queue.send(Message::Close(done)).await.is_ok()
        {
            let _ = closed.await;
        }
    }

    /// Gives the id of the store.
    pub fn store(&self) -> StoreId {
        self.inner.manifest.store
    }

    /// Gives the number of events.
    pub fn count(&self) -> u64 {
        self.index().count()
    }

    /// Gives the store's cache, for what the engine can make again.
    pub fn cache(&self) -> Cache {
        self.inner.cache.clone()
    }

    /// Reads the whole log and checks it: frames, commit digests, order, and the hash chain of
    /// every conversation.
    pub fn check(&self) -> LogReport {
        let (segments, tail) = {
            let index = self.index();
            let outlines: Vec<Segment> = index.segments.iter().map(Segment::outline).collect();
            (outlines, index.tail)
        };
        check::check(&segments, self.inner.manifest.genesis(), tail)
    }

    fn index(&self) -> RwLockReadGuard<'_, Index> {
        let index = self.inner.shared.index.read();
        index.unwrap_or_else(PoisonError::into_inner)
    }
}

fn share(dir: LogDir, index: Index) -> Arc<Shared> {
    let tip = watch::Sender::new(tip(index.tail.seq));
    Arc::new(Shared {
        dir,
        index: RwLock::new(index),
        tip,
    })
}

fn tip(seq: u64) -> Tip {
    Tip {
        position: (seq > 0).then_some(Position(seq)),
    }
}

/// Takes the lock and reads the `STORE` file, making it where the directory is empty.
fn claim(
    storage: &dyn Storage,
    dir: &Path,
    store: Option<StoreId>,
) -> Result<(Manifest, Box<dyn LockGuard>), OpenError> {
    // Before the lock file is made, so that no file appears in a directory that is no store.
    Manifest::read(storage, dir)?;
    storage
        .create_dir_all(dir)
        .map_err(io_error("create", dir))?;
    let path = dir.join(LOCK);
    let lock = storage.lock(&path).map_err(io_error("lock", &path))?;
    let lock = lock.ok_or(OpenError::Locked { path })?;
    // Again under the lock: another process may just have made the store.
    if let Some(manifest) = Manifest::read(storage, dir)? {
        return Ok((manifest, lock));
    }
    let store = match store {
        Some(store) => store,
        None => StoreId::from_bytes(
            crate::seal::random().map_err(io_error("draw a random id for", dir))?,
        ),
    };
    Ok((Manifest::create(storage, dir, store)?, lock))
}

pub(crate) fn make_dir(storage: &dyn Storage, parent: &Path, path: &Path) -> Result<(), OpenError> {
    if let Err(error) = storage.list(path)
        && error.kind() == std::io::ErrorKind::NotFound
    {
        storage
            .create_dir_all(path)
            .map_err(io_error("create", path))?;
        storage.sync_dir(parent).map_err(io_error("sync", parent))?;
    }
    Ok(())
}

/// Reads on while a writer may be at work: what looks damaged at the end can be a write in flight,
/// so it is looked at again before it is believed.
fn read_beside_writer(log: &LogDir, index: &mut Index) -> Result<(Option<Torn>, bool), OpenError> {
    let mut tries = READER_TRIES;
    loop {
        match log.read_on(index, false) {
            Err(OpenError::Corrupt { .. }) if tries > 1 => {
                tries -= 1;
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
            other => return other,
        }
    }
}

impl EventLog for FileLog {
    async fn append(
        &self,
        conversation: ConversationId,
        expected_version: u64,
        batch_id: BatchId,
        events: Vec<NewEvent>,
    ) -> Result<Appended, AppendError> {
        check_limits(batch_id, &events)?;
        let queue = self.inner.queue.as_ref().ok_or(AppendError::ReadOnly)?;
        let (reply, answer) = oneshot::channel();
        let append = Append {
            conversation,
            expected_version,
            batch_id,
            events,
            reply,
        };
        let queued = queue.send(Message::Append(append)).await;
        queued.map_err(|_| AppendError::Closed)?;
        answer.await.unwrap_or_else(|_| {
            Err(AppendError::Unknown {
                batch: batch_id,
                what: "the writer ended without an answer".to_owned(),
                source: None,
            })
        })
    }

    async fn head(&self, conversation: ConversationId) -> Result<Option<Head>, ReadError> {
        Ok(self.index().head(conversation))
    }

    async fn read(
        &self,
        conversation: ConversationId,
        from_version: u64,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, ReadError> {
        let first = from_version.max(1);
        let seqs: Vec<u64> = match self.index().streams.get(&conversation) {
            Some(stream) => {
                let seqs = stream.seqs.iter().skip(to_index(first - 1));
                seqs.take(limit).copied().collect()
            }
            None => return Ok(Vec::new()),
        };
        let located = fetch::locate(&self.index(), &seqs);
        if located.len() != seqs.len() {
            return Err(ReadError::Gap {
                conversation,
                version: first + crate::bytes::wide(located.len()),
            });
        }
        fetch::fetch(&located, |number| {
            Some(Expected {
                conversation,
                version: first + crate::bytes::wide(number),
            })
        })
    }

    async fn batch(
        &self,
        conversation: ConversationId,
        batch_id: BatchId,
    ) -> Result<Option<Appended>, ReadError> {
        Ok(self.index().batch(conversation, batch_id))
    }

    async fn conversations(&self) -> Result<Vec<ConversationId>, ReadError> {
        Ok(self.index().streams.keys().copied().collect())
    }

    fn partitions(&self) -> Vec<Partition> {
        vec![Partition(0)]
    }

    async fn read_partition(
        &self,
        partition: Partition,
        after: Option<Position>,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, ReadError> {
        if partition != Partition(0) {
            return Err(ReadError::UnknownPartition { partition });
        }
        let Tail { seq: last, .. } = self.index().tail;
        let first = after.map_or(0, |position| position.0).saturating_add(1);
        let seqs: Vec<u64> = (first..=last).take(limit).collect();
        fetch::fetch(&fetch::locate(&self.index(), &seqs), |_| None)
    }

    fn subscribe(&self) -> watch::Receiver<Tip> {
        self.inner.shared.tip.subscribe()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            durable: true,
            writable: self.inner.queue.is_some(),
            shared_readers: true,
        }
    }
}
