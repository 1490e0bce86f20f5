// Execution providers: which ones a session uses.

package ortolan

import (
	"errors"

	"ortolan.org/ortolan/internal/native"
)

// CPUProvider is the name of the execution provider that is always there and runs what no other one takes.
const CPUProvider = "CPUExecutionProvider"

// Provider asks for an execution provider.
type Provider struct {
	Name     string
	Settings map[string]string
	// Optional providers that are absent are left out, so that the ones after them run their nodes. Otherwise an absent
	// provider is an error.
	Optional bool
}

// AppendProvider adds the execution provider of a name, after those added before: each node is run by the first
// provider that can. A provider that is absent is an error.
func (o *SessionOptions) AppendProvider(name string, settings map[string]string) error {
	return withSettings(settings, func(list uintptr) error {
		return o.changeText(name, func(address uintptr, text *byte, status *uintptr) {
			native.Append_provider(address, text, list, status)
		})
	})
}

// AppendProviders adds execution providers, in this order, and says which ones: those that are optional and absent are
// missing.
func (o *SessionOptions) AppendProviders(providers ...Provider) (appended []string, err error) {
	for _, provider := range providers {
		err := o.AppendProvider(provider.Name, provider.Settings)
		if err != nil && provider.Optional && !isClosed(err) && !providerExists(provider.Name) {
			continue
		}
		if err != nil {
			return appended, err
		}
		appended = append(appended, provider.Name)
	}
	return appended, nil
}

func isClosed(err error) bool { return errors.Is(err, ErrClosed) }

func providerExists(name string) bool {
	names, err := AvailableProviders()
	if err != nil {
		return false
	}
	environment, err := DefaultEnvironment()
	if err != nil {
		return false
	}
	devices, err := environment.Devices()
	if err != nil {
		return false
	}
	for _, device := range devices {
		names = append(names, device.Provider)
	}
	for _, existing := range names {
		if existing == name {
			return true
		}
	}
	return false
}

// AppendDevices adds the execution provider of some devices, which are all of one provider, to run on these.
func (o *SessionOptions) AppendDevices(settings map[string]string, devices ...*Device) error {
	return withSettings(settings, func(list uintptr) error {
		var failed error
		err := withDevices(devices, func(environment uintptr, addresses []uintptr, status *uintptr) {
			failed = o.change(func(options uintptr, status *uintptr) {
				native.Append_provider_devices(options, environment, addresses, list, status)
				if *status == 0 {
					o.keep(&devices[0].environment.object)
				}
			})
		})
		if err != nil {
			return err
		}
		return failed
	})
}

// SetDevicePolicy lets sessions choose among the devices of their environment.
func (o *SessionOptions) SetDevicePolicy(policy DevicePolicy) error {
	return o.changeNumber(int32(policy), native.Set_device_policy)
}
