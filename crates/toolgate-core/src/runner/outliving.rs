//! Work that whoever asked for it drives as long as they stay, and that goes on by itself when they leave. Most stay:
//! they spare the runtime a task and its wake-ups.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;
use tokio::task::JoinHandle;

pub(super) struct Outliving<T: Send + 'static> {
    work: Option<Pin<Box<dyn Future<Output = T> + Send>>>,
    runtime: Handle,
}

impl<T: Send + 'static> Outliving<T> {
    /// Work to drive by polling this. Must be made inside a runtime.
    pub(super) fn new(work: impl Future<Output = T> + Send + 'static) -> Self {
        Self { work: Some(Box::pin(work)), runtime: Handle::current() }
    }

    /// Lets the work go on by itself; none when it is done.
    pub(super) fn leave(mut self) -> Option<JoinHandle<T>> {
        self.work.take().map(|work| self.runtime.spawn(work))
    }
}

impl<T: Send + 'static> Future for Outliving<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let Some(work) = &mut self.work else { return Poll::Pending };
        let polled = work.as_mut().poll(context);
        if polled.is_ready() {
            self.work = None;
        }
        polled
    }
}

impl<T: Send + 'static> Drop for Outliving<T> {
    fn drop(&mut self) {
        if let Some(work) = self.work.take() {
            drop(self.runtime.spawn(work));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    #[tokio::test]
    async fn work_is_done_with_and_without_whoever_asked() {
        assert_eq!(Outliving::new(async { 7 }).await, 7);

        let (go, gone) = oneshot::channel::<()>();
        let (tell, told) = oneshot::channel();
        let work = Outliving::new(async move {
            let _ = gone.await;
            let _ = tell.send(8);
        });
        let left = tokio::time::timeout(std::time::Duration::from_millis(1), work).await;
        assert!(left.is_err(), "it waits");
        go.send(()).unwrap();
        assert_eq!(told.await, Ok(8));

        let kept = Outliving::new(async { 9 }).leave().unwrap();
        assert_eq!(kept.await.unwrap(), 9);
    }
}
