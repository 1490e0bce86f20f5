// What the library says about itself.

package ortolan

import "ortolan.org/ortolan/internal/native"

// Version is the library's version: "1.31.0".
func Version() string { return native.StringOf(native.Library_version()) }

// BuildInfo says how the library was built.
func BuildInfo() string { return native.StringOf(native.Library_build_info()) }

// AvailableProviders lists the execution providers that are part of the library. Registered libraries add others, which
// are among the devices of their environment.
func AvailableProviders() ([]string, error) {
	var status uintptr
	list := native.Available_providers(&status)
	return takeTexts(list, status)
}

// takeTexts copies a list of texts and frees it.
func takeTexts(list, status uintptr) ([]string, error) {
	if err := failure(status); err != nil {
		return nil, err
	}
	defer native.Release_texts(list)
	return copyTexts(list), nil
}

func copyTexts(list uintptr) []string {
	texts := make([]string, native.Text_count(list))
	for i := range texts {
		texts[i] = native.StringOf(native.Text_at(list, i))
	}
	return texts
}

// withSettings calls the library with a list of keys and values, 0 when there are none.
func withSettings(settings map[string]string, call func(list uintptr) error) error {
	if len(settings) == 0 {
		return call(0)
	}
	list := native.Create_settings()
	defer native.Release_settings(list)
	for key, value := range settings {
		k, v, err := textsFor(key, value)
		if err != nil {
			return err
		}
		native.Add_setting(list, k, v)
	}
	return call(list)
}

func copySettings(list uintptr) map[string]string {
	settings := map[string]string{}
	for i, count := 0, native.Setting_count(list); i < count; i++ {
		settings[native.StringOf(native.Setting_key(list, i))] = native.StringOf(native.Setting_value(list, i))
	}
	return settings
}

func flag(on bool) int32 {
	if on {
		return 1
	}
	return 0
}

// narrow is the nearest number of the library's; it refuses those that are beyond.
func narrow(number int) int32 {
	const most = 1<<31 - 1
	if number > most {
		return most
	}
	if number < -most {
		return -most
	}
	return int32(number)
}
