//! Files whose time is over, and what is left of files that were given up or removed.

use std::time::Duration;

use toolgate_core::Timestamp;
use toolgate_core::id::FileId;
use toolgate_core::port::store::StoreError;

use crate::App;

/// How long before its end a file is looked at, and how long after it goes: calls that just began with it have been
/// written down by then.
const AROUND: Duration = Duration::from_secs(5 * 60);
/// How long a file is kept on for a call that is not settled, before it is looked at again.
const KEPT_ON: Duration = Duration::from_secs(60 * 60);
/// How many are looked at in one turn.
const AT_ONCE: u32 = 100;

impl App {
    /// Takes away what is over by `now`. A file that a call names which is not settled is kept on.
    ///
    /// # Errors
    /// When the store can't be reached; what is left is done the next time.
    pub async fn sweep_files(&self, now: Timestamp) -> Result<(), StoreError> {
        let (soon, long_over) = (now.plus(AROUND), now.minus(AROUND));
        let mut after = None;
        loop {
            let ending = self.store().ending_files(soon, after, AT_ONCE).await?;
            let ids = |of: &dyn Fn(&toolgate_core::port::file::EndingFile) -> bool| -> Vec<FileId> {
                ending.iter().filter(|file| of(file)).map(|file| file.id).collect()
            };
            let needed = ids(&|file| file.named);
            let over = ids(&|file| !file.named && file.expires_at < long_over);
            if !needed.is_empty() {
                self.store().keep_files(&needed, now.plus(KEPT_ON)).await?;
            }
            if !over.is_empty() {
                self.store().end_files(&over, long_over).await?;
            }
            match ending.last() {
                Some(last) if ending.len() >= AT_ONCE as usize => after = Some((last.expires_at, last.id)),
                _ => break,
            }
        }
        self.purge_files().await
    }
}
