//! Ways: where the actors of one client listen. Filled as they start; shared by their performers.

use std::sync::{Arc, OnceLock};

use dh_host::Port;

use crate::connection::ConnectionMsg;
use crate::downloader::DownloaderMsg;
use crate::map_loader::MapLoaderMsg;
use crate::predictor::PredictorMsg;
use crate::presenter::PresenterMsg;

/// The ports of one client.
#[derive(Clone, Debug, Default)]
pub struct Ways(Arc<Ports>);

#[derive(Debug, Default)]
struct Ports {
    connection: OnceLock<Port<ConnectionMsg>>,
    downloader: OnceLock<Port<DownloaderMsg>>,
    map_loader: OnceLock<Port<MapLoaderMsg>>,
    predictor: OnceLock<Port<PredictorMsg>>,
    presenter: OnceLock<Port<PresenterMsg>>,
}

macro_rules! ways {
    ($($name:ident $to:ident $set:ident $Msg:ident;)*) => {
        impl Ways {
            $(
                /// Its port, once it has started.
                #[must_use]
                pub fn $name(&self) -> Option<&Port<$Msg>> {
                    self.0.$name.get()
                }

                /// Tell it. What its full lane refuses is counted there.
                pub fn $to(&self, msg: $Msg) {
                    if let Some(port) = self.$name() {
                        drop(port.offer(msg));
                    }
                }

                pub(crate) fn $set(&self, port: Port<$Msg>) {
                    drop(self.0.$name.set(port));
                }
            )*
        }
    };
}

ways! {
    connection to_connection set_connection ConnectionMsg;
    downloader to_downloader set_downloader DownloaderMsg;
    map_loader to_map_loader set_map_loader MapLoaderMsg;
    predictor to_predictor set_predictor PredictorMsg;
    presenter to_presenter set_presenter PresenterMsg;
}
