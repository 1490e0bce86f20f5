// Run options: settings of single runs.

package ortolan

import (
	"sync"

	"ortolan.org/ortolan/internal/native"
)

// RunOptions are settings of runs; any number of runs may use them, at once too. They need no Close.
type RunOptions struct {
	Tag       string            // marks the log lines of the runs
	Severity  *LogSeverity      // of the least important lines that the runs log; nil: as the session
	Verbosity int               // how much the runs log at LogVerbose
	Settings  map[string]string // further settings of the library

	mutex      sync.Mutex
	terminated bool
	running    map[*nativeRun]struct{}
}

// Terminate makes runs with the options end soon with an error that is ErrCanceled: those in progress and later ones.
func (o *RunOptions) Terminate() { o.setTerminated(true) }

// Unterminate takes Terminate back, for later runs.
func (o *RunOptions) Unterminate() { o.setTerminated(false) }

func (o *RunOptions) setTerminated(terminated bool) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.terminated = terminated
	for run := range o.running {
		if terminated {
			run.cancel(ErrCanceled)
		}
	}
}

// nativeRun is the library's options for one run.
type nativeRun struct {
	address uintptr
	mutex   sync.Mutex
	reason  error // why the run was canceled; nil when it was not
}

// cancel ends the run; the first reason counts.
func (r *nativeRun) cancel(reason error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.reason != nil {
		return
	}
	r.reason = reason
	var status uintptr
	native.Set_terminate(r.address, 1, &status)
	_ = failure(status) // a live object takes the mark
}

// begin makes the library's options for a run. What it returns must be ended.
func (o *RunOptions) begin() (*nativeRun, error) {
	var status uintptr
	run := &nativeRun{address: native.Create_run_options(&status)}
	if err := failure(status); err != nil {
		return nil, err
	}
	if o == nil {
		return run, nil
	}
	if err := o.apply(run.address); err != nil {
		native.Release_run_options(run.address)
		return nil, err
	}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.running == nil {
		o.running = map[*nativeRun]struct{}{}
	}
	o.running[run] = struct{}{}
	if o.terminated {
		run.cancel(ErrCanceled)
	}
	return run, nil
}

func (o *RunOptions) end(run *nativeRun) {
	if o != nil {
		o.mutex.Lock()
		delete(o.running, run)
		o.mutex.Unlock()
	}
	native.Release_run_options(run.address)
}

// apply sets what differs from the defaults.
func (o *RunOptions) apply(address uintptr) error {
	var status uintptr
	if o.Tag != "" {
		tag, err := textFor(o.Tag)
		if err != nil {
			return err
		}
		native.Set_run_tag(address, tag, &status)
	}
	if o.Severity != nil && status == 0 {
		native.Set_run_severity(address, int32(*o.Severity), &status)
	}
	if o.Verbosity != 0 && status == 0 {
		native.Set_run_verbosity(address, narrow(o.Verbosity), &status)
	}
	if err := failure(status); err != nil {
		return err
	}
	for key, value := range o.Settings {
		keyText, valueText, err := textsFor(key, value)
		if err != nil {
			return err
		}
		var status uintptr
		native.Add_run_setting(address, keyText, valueText, &status)
		if err := failure(status); err != nil {
			return err
		}
	}
	return nil
}
