// Devices that execution providers run on, and memory.

package ortolan

import "ortolan.org/ortolan/internal/native"

// HardwareType is a kind of processor.
type HardwareType int32

// The kinds of processors.
const (
	HardwareCPU HardwareType = 0
	HardwareGPU HardwareType = 1
	HardwareNPU HardwareType = 2
)

func (t HardwareType) String() string {
	names := []string{"CPU", "GPU", "NPU"}
	if t < 0 || int(t) >= len(names) {
		return "unknown"
	}
	return names[t]
}

// Hardware describes a processor of the machine.
type Hardware struct {
	Type     HardwareType
	Vendor   string
	VendorID uint32 // of PCI, where it is a PCI device
	ID       uint32 // of the model, not of this piece
	Metadata map[string]string
}

// Device is an execution provider together with hardware that it can run on. It can be used until the provider's
// library is unregistered.
type Device struct {
	Provider       string
	ProviderVendor string
	Metadata       map[string]string // what the provider says about the device
	Settings       map[string]string // the provider's settings for the device
	Hardware       Hardware
	environment    *Environment
	address        uintptr
}

// Devices lists the devices of all registered libraries.
func (e *Environment) Devices() ([]*Device, error) {
	var devices []*Device
	err := e.change(func(address uintptr, status *uintptr) {
		count := native.Device_count(address, status)
		for i := 0; i < count && *status == 0; i++ {
			if device := native.Device_at(address, i, status); *status == 0 {
				devices = append(devices, describeDevice(e, device))
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return devices, nil
}

func describeDevice(environment *Environment, address uintptr) *Device {
	return &Device{
		Provider:       native.StringOf(native.Device_provider(address)),
		ProviderVendor: native.StringOf(native.Device_provider_vendor(address)),
		Metadata:       copySettings(native.Device_metadata(address)),
		Settings:       copySettings(native.Device_settings(address)),
		Hardware: Hardware{
			Type:     HardwareType(native.Hardware_type(address)),
			Vendor:   native.StringOf(native.Hardware_vendor(address)),
			VendorID: native.Hardware_vendor_id(address),
			ID:       native.Hardware_id(address),
			Metadata: copySettings(native.Hardware_metadata(address)),
		},
		environment: environment,
		address:     address,
	}
}

// registered tells whether the library still knows the device. process.providers must be held.
func (d *Device) registered(environment uintptr, status *uintptr) bool {
	count := native.Device_count(environment, status)
	for i := 0; i < count && *status == 0; i++ {
		if native.Device_at(environment, i, status) == d.address {
			return true
		}
	}
	return false
}

// withDevices calls the library with devices of one environment, while none of them can go away.
func withDevices(devices []*Device, call func(environment uintptr, devices []uintptr, status *uintptr)) error {
	if len(devices) == 0 || devices[0] == nil || devices[0].environment == nil {
		return refuse("there must be a device")
	}
	environment := devices[0].environment
	addresses := make([]uintptr, len(devices))
	var gone error
	err := environment.change(func(address uintptr, status *uintptr) {
		for i, device := range devices {
			if device == nil || device.environment != environment {
				gone = refuse("the devices must be of one environment")
				return
			}
			if !device.registered(address, status) {
				gone = refuse("the library of device %d, of %s, is not registered any more", i, device.Provider)
				return
			}
			addresses[i] = device.address
		}
		call(address, addresses, status)
	})
	if err != nil {
		return err
	}
	return gone
}
