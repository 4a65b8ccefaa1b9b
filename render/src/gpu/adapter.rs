//! Which graphics adapter draws: hardware before software, Vulkan before GL.
//!
//! Used by the studio and by `dh doctor`. `WGPU_BACKEND` (vulkan or gl) narrows the choice. Never:
//! opens a device.

use std::error::Error;
use std::fmt::{Display, Formatter, Result as Written};
use std::sync::OnceLock;

use wgpu::{Backend, Backends, DeviceType};

/// A graphics adapter, as people know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adapter {
    /// What the driver calls it.
    pub name: String,
    /// `vulkan` or `gl`.
    pub backend: &'static str,
    /// The driver with its version, as far as it says.
    pub driver: String,
    /// Whether a processor does the drawing.
    pub software: bool,
}

impl Display for Adapter {
    fn fmt(&self, f: &mut Formatter<'_>) -> Written {
        write!(f, "{} ({}", self.name, self.backend)?;
        if !self.driver.is_empty() {
            write!(f, ", {}", self.driver)?;
        }
        f.write_str(if self.software { ", software)" } else { ")" })
    }
}

/// There is nothing to draw with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoAdapter {
    /// Why the adapters that were found could not be opened; empty where none was found.
    pub tried: Vec<String>,
}

impl NoAdapter {
    /// The package that draws on any machine.
    pub const PACKAGE: &'static str = "mesa-vulkan-drivers";
}

impl Display for NoAdapter {
    fn fmt(&self, f: &mut Formatter<'_>) -> Written {
        f.write_str("no graphics adapter: install ")?;
        f.write_str(Self::PACKAGE)?;
        f.write_str(" (software Vulkan) or the driver of your graphics card")?;
        if self.tried.is_empty() { Ok(()) } else { write!(f, " [{}]", self.tried.join("; ")) }
    }
}

impl Error for NoAdapter {}

/// The adapter that would draw. It is looked for once in a run: looking starts every driver.
///
/// # Errors
/// [`NoAdapter`] where this machine has neither Vulkan nor GL, not even in software.
pub fn find_adapter() -> Result<Adapter, NoAdapter> {
    static FOUND: OnceLock<Option<Adapter>> = OnceLock::new();
    let found = FOUND.get_or_init(|| candidates().first().map(describe));
    found.clone().ok_or_else(|| NoAdapter { tried: Vec::new() })
}

/// All adapters worth trying, the best first.
pub(super) fn candidates() -> Vec<wgpu::Adapter> {
    let mut found = Vec::new();
    // GL is asked only where Vulkan has no hardware: its start is slow.
    for backends in [Backends::VULKAN, Backends::GL] {
        let mut wanted = wgpu::InstanceDescriptor::new_without_display_handle();
        wanted.backends = backends & Backends::from_env().unwrap_or(Backends::all());
        if wanted.backends.is_empty() {
            continue;
        }
        let instance = wgpu::Instance::new(wanted);
        found.extend(pollster::block_on(instance.enumerate_adapters(backends)));
        if found.iter().any(|adapter| rank(&adapter.get_info()).0 < SOFTWARE) {
            break;
        }
    }
    found.sort_by_key(|adapter| rank(&adapter.get_info()));
    found
}

/// All adapters that can draw into this window, the best first.
pub(super) fn candidates_for(
    instance: &wgpu::Instance,
    surface: &wgpu::Surface<'_>,
) -> Vec<wgpu::Adapter> {
    let mut found = pollster::block_on(instance.enumerate_adapters(Backends::all()));
    found.retain(|adapter| adapter.is_surface_supported(surface));
    found.sort_by_key(|adapter| rank(&adapter.get_info()));
    found
}

/// What people are told about an adapter.
pub(super) fn describe(adapter: &wgpu::Adapter) -> Adapter {
    let info = adapter.get_info();
    Adapter {
        driver: driver(&info),
        name: info.name,
        backend: info.backend.to_str(),
        software: info.device_type == DeviceType::Cpu,
    }
}

/// The driver with its version; a driver that the adapter is called after is not named again.
fn driver(info: &wgpu::AdapterInfo) -> String {
    let parts = [&info.driver, &info.driver_info].map(|part| part.trim());
    let said = |part: &&str| !part.is_empty() && !info.name.starts_with(*part);
    parts.into_iter().filter(said).collect::<Vec<_>>().join(" ")
}

/// The place of software among the kinds of device.
const SOFTWARE: u8 = 4;

/// Smaller is better; equal ranks keep the order the driver gives.
fn rank(info: &wgpu::AdapterInfo) -> (u8, bool) {
    let kind = match info.device_type {
        DeviceType::DiscreteGpu => 0,
        DeviceType::IntegratedGpu => 1,
        DeviceType::VirtualGpu => 2,
        DeviceType::Other => 3,
        DeviceType::Cpu => SOFTWARE,
    };
    (kind, info.backend != Backend::Vulkan)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(kind: DeviceType, backend: Backend) -> wgpu::AdapterInfo {
        wgpu::AdapterInfo::new(kind, backend)
    }

    #[test]
    fn hardware_is_preferred_to_software_and_vulkan_to_gl() {
        let order = [
            info(DeviceType::DiscreteGpu, Backend::Vulkan),
            info(DeviceType::DiscreteGpu, Backend::Gl),
            info(DeviceType::IntegratedGpu, Backend::Gl),
            info(DeviceType::Cpu, Backend::Vulkan),
            info(DeviceType::Cpu, Backend::Gl),
        ];
        assert!(order.windows(2).all(|pair| rank(&pair[0]) < rank(&pair[1])));
    }

    #[test]
    fn a_driver_is_named_once() {
        let called = |name: &str| wgpu::AdapterInfo {
            name: name.to_owned(),
            driver: "llvmpipe".to_owned(),
            driver_info: "Mesa 25.0".to_owned(),
            ..info(DeviceType::Cpu, Backend::Vulkan)
        };
        assert_eq!(driver(&called("llvmpipe (LLVM 20)")), "Mesa 25.0");
        assert_eq!(driver(&called("A card")), "llvmpipe Mesa 25.0");
    }

    #[test]
    fn a_machine_with_nothing_to_draw_with_is_told_what_to_install() {
        let text = NoAdapter { tried: Vec::new() }.to_string();
        assert!(text.contains("install mesa-vulkan-drivers"), "{text}");
        assert_eq!(text.lines().count(), 1);
    }
}
