// Environments: what sessions share.

package ortolan

import (
	"runtime"
	"sync"

	"ortolan.org/ortolan/internal/native"
)

// Environment is what sessions share: the log, pools of threads, and the libraries of execution providers. A process
// has one at a time: while one is open, or used by a session, further ones are the same. Most programs need only the
// default one, which NewSession uses.
type Environment struct {
	object
}

// EnvironmentOptions are the settings of an environment. The zero value logs everything to stderr and has no shared
// threads.
type EnvironmentOptions struct {
	Severity LogSeverity // of the least important lines that are logged
	LogID    string
	Log      LogFunc      // gets the log lines; nil: they go to stderr
	Threads  *ThreadPools // pools for sessions with DisableSessionThreads; nil: none
}

// ThreadPools are the pools of threads that the sessions of an environment share.
type ThreadPools struct {
	IntraOp int  // threads within a node; 0: as many as the machine has cores
	InterOp int  // threads between nodes, likewise
	Spin    bool // threads wait for work actively for a while
}

// process is the library's environment while there are Environments.
var process struct {
	sync.Mutex
	address      uintptr
	environments int
	log          *object
	providers    sync.Mutex // guards the libraries of providers and their devices
}

var environmentClass = &class{"environment", leaveProcess}

func leaveProcess(uintptr) {
	process.Lock()
	defer process.Unlock()
	process.environments--
	if process.environments > 0 {
		return
	}
	native.Release_environment(process.address)
	if process.log != nil {
		process.log.close()
	}
	process.address, process.log = 0, nil
}

// NewEnvironment makes an environment; nil options stand for severity LogWarning. Where the process has an environment
// already it stays as it is, and the options do not count.
func NewEnvironment(options *EnvironmentOptions) (*Environment, error) {
	if options == nil {
		options = &EnvironmentOptions{Severity: LogWarning}
	}
	process.Lock()
	defer process.Unlock()
	if process.environments == 0 {
		if err := createProcess(options); err != nil {
			return nil, err
		}
	}
	process.environments++
	environment := new(Environment)
	environment.init(environmentClass, process.address)
	runtime.SetFinalizer(environment, (*Environment).Close)
	return environment, nil
}

func createProcess(options *EnvironmentOptions) error {
	logID, err := textFor(options.LogID)
	if err != nil {
		return err
	}
	pools := ThreadPools{}
	if options.Threads != nil {
		pools = *options.Threads
	}
	var sinkAddress uintptr
	sink := newSink(options.Log)
	if sink != nil {
		sinkAddress = sink.address
	}
	var status uintptr
	address := native.Create_environment(int32(options.Severity), logID, sinkAddress, flag(options.Threads != nil),
		narrow(pools.IntraOp), narrow(pools.InterOp), flag(pools.Spin), &status)
	if err := failure(status); err != nil {
		if sink != nil {
			sink.close()
		}
		return err
	}
	process.address, process.log = address, sink
	return nil
}

// Close gives the environment back; its sessions go on. It always returns nil.
func (e *Environment) Close() error {
	if e.address != 0 {
		runtime.SetFinalizer(e, nil)
	}
	e.close()
	return nil
}

var (
	defaultEnvironment *Environment
	defaultMutex       sync.Mutex
)

// DefaultEnvironment is the environment of the process. It is made when it is first asked for, and again when it was
// closed.
func DefaultEnvironment() (*Environment, error) {
	defaultMutex.Lock()
	defer defaultMutex.Unlock()
	if defaultEnvironment != nil && !defaultEnvironment.isClosed() {
		return defaultEnvironment, nil
	}
	environment, err := NewEnvironment(nil)
	if err == nil {
		defaultEnvironment = environment
	}
	return environment, err
}

// change calls the library with the environment while no other goroutine changes it.
func (e *Environment) change(call func(address uintptr, status *uintptr)) error {
	process.providers.Lock()
	defer process.providers.Unlock()
	return e.use(call)
}

// SetSeverity sets the severity of the least important lines that are logged.
func (e *Environment) SetSeverity(severity LogSeverity) error {
	return e.change(func(address uintptr, status *uintptr) {
		native.Set_environment_severity(address, int32(severity), status)
	})
}

// RegisterProviderLibrary loads the library of an execution provider, a plugin, and calls it name. Its devices are then
// among those of the environment.
func (e *Environment) RegisterProviderLibrary(name, path string) error {
	nameText, pathText, err := textsFor(name, path)
	if err != nil {
		return err
	}
	return e.change(func(address uintptr, status *uintptr) {
		native.Register_provider_library(address, nameText, pathText, status)
	})
}

// UnregisterProviderLibrary takes a library back. Its devices cannot be used any more; sessions that run on them go on.
func (e *Environment) UnregisterProviderLibrary(name string) error {
	nameText, err := textFor(name)
	if err != nil {
		return err
	}
	return e.change(func(address uintptr, status *uintptr) {
		native.Unregister_provider_library(address, nameText, status)
	})
}

// AppendProvider adds an execution provider for all later sessions whose options name none, after those added before.
// An absent one is an error, unless it is optional: then sessions go without it.
func (e *Environment) AppendProvider(provider Provider) error {
	name, err := textFor(provider.Name)
	if err != nil {
		return err
	}
	return withSettings(provider.Settings, func(settings uintptr) error {
		return e.change(func(address uintptr, status *uintptr) {
			native.Append_environment_provider(address, name, settings, flag(!provider.Optional), status)
		})
	})
}

// ClearProviders takes back what AppendProvider added.
func (e *Environment) ClearProviders() error { return e.change(native.Clear_environment_providers) }
