// Sessions: models that are ready to run, and what they say about themselves.

package ortolan

import (
	"runtime"
	"sync"

	"ortolan.org/ortolan/internal/native"
)

// Session is a model that is ready to run.
type Session struct {
	object
	feeds, fetches names // what runs may be given, and what they give
	inputs         int   // how many of the feeds are inputs; the others are overridable initializers
	idleCalls      sync.Pool
}

// names is a list of the library's with an index.
type names struct {
	list  uintptr
	words []string
	index map[string]int32
}

// ValueInfo describes an input or output of a model.
type ValueInfo struct {
	Name string
	Type *TypeInfo
}

var (
	sessionClass = &class{"session", native.Release_session}
	namesClass   = &class{"list of names", native.Release_texts}
)

// NewSession opens the model of a file in the default environment. Options may be nil.
func NewSession(path string, options *SessionOptions) (*Session, error) {
	environment, err := DefaultEnvironment()
	if err != nil {
		return nil, err
	}
	return environment.NewSession(path, options)
}

// NewSessionFromBytes opens a model that is in memory, in the default environment. Options may be nil.
func NewSessionFromBytes(model []byte, options *SessionOptions) (*Session, error) {
	environment, err := DefaultEnvironment()
	if err != nil {
		return nil, err
	}
	return environment.NewSessionFromBytes(model, options)
}

// NewSession opens the model of a file. Options may be nil.
func (e *Environment) NewSession(path string, options *SessionOptions) (*Session, error) {
	text, err := textFor(path)
	if err != nil {
		return nil, err
	}
	return e.open(options, func(settings uintptr, status *uintptr) uintptr {
		return native.Create_session(e.address, text, settings, status)
	})
}

// NewSessionFromBytes opens a model that is in memory; the bytes are copied. Options may be nil.
func (e *Environment) NewSessionFromBytes(model []byte, options *SessionOptions) (*Session, error) {
	if options != nil {
		const inPlace = "session.use_ort_model_bytes_directly"
		if value, _, err := options.Setting(inPlace); err != nil || value == "1" {
			if err == nil {
				err = refuse("setting %s cannot be used: memory of Go's may not stay in use after the call", inPlace)
			}
			return nil, err
		}
	}
	return e.open(options, func(settings uintptr, status *uintptr) uintptr {
		return native.Create_session_from_bytes(e.address, model, settings, status)
	})
}

// open makes a session that uses the environment and the options.
func (e *Environment) open(options *SessionOptions, create func(settings uintptr, status *uintptr) uintptr) (*Session,
	error) {
	parents := []*object{&e.object}
	var settings uintptr
	if options != nil {
		options.mutex.RLock()
		defer options.mutex.RUnlock()
		parents = append(parents, &options.object)
		settings = options.address
	}
	if err := acquireAll(parents...); err != nil {
		return nil, err
	}
	defer doneAll(parents...)
	var status uintptr
	address := create(settings, &status)
	if err := failure(status); err != nil {
		return nil, err
	}
	session := new(Session)
	session.init(sessionClass, address, parents...)
	runtime.SetFinalizer(session, (*Session).Close)
	if err := session.readNames(); err != nil {
		session.Close()
		return nil, err
	}
	return session, nil
}

func (s *Session) readNames() (err error) {
	if s.feeds, err = s.ownNames(native.Feed_names); err != nil {
		return err
	}
	if s.fetches, err = s.ownNames(native.Output_names); err != nil {
		return err
	}
	var status uintptr
	inputs, err := takeTexts(native.Input_names(s.address, &status), status)
	s.inputs = len(inputs)
	return err
}

// ownNames reads a list that lives as long as the session.
func (s *Session) ownNames(read func(session uintptr, status *uintptr) uintptr) (names, error) {
	var status uintptr
	list := read(s.address, &status)
	if err := failure(status); err != nil {
		return names{}, err
	}
	owned := new(object)
	owned.init(namesClass, list)
	owned.state.Store(oneUser | closed) // the session is its only user
	s.parents = append(s.parents, owned)
	words := copyTexts(list)
	index := make(map[string]int32, len(words))
	for i, word := range words {
		index[word] = int32(i)
	}
	return names{list, words, index}, nil
}

// Close gives the session back; runs in progress end first. It always returns nil.
func (s *Session) Close() error {
	if s.address != 0 {
		runtime.SetFinalizer(s, nil)
	}
	s.close()
	return nil
}

// InputNames lists the inputs.
func (s *Session) InputNames() []string { return append([]string(nil), s.feeds.words[:s.inputs]...) }

// OutputNames lists the outputs.
func (s *Session) OutputNames() []string { return append([]string(nil), s.fetches.words...) }

// OverridableNames lists the initializers that a run may give other values for.
func (s *Session) OverridableNames() []string {
	return append([]string(nil), s.feeds.words[s.inputs:]...)
}

// Inputs describes the inputs.
func (s *Session) Inputs() ([]ValueInfo, error) {
	return s.describe(s.feeds.words[:s.inputs], native.Input_type)
}

// Outputs describes the outputs.
func (s *Session) Outputs() ([]ValueInfo, error) {
	return s.describe(s.fetches.words, native.Output_type)
}

// OverridableInitializers describes the initializers that a run may give other values for.
func (s *Session) OverridableInitializers() ([]ValueInfo, error) {
	return s.describe(s.feeds.words[s.inputs:], native.Overridable_type)
}

// describe reads the types of some names.
func (s *Session) describe(names []string, typeOf func(session uintptr, index int, status *uintptr) uintptr) (
	[]ValueInfo, error) {
	if err := s.acquire(); err != nil {
		return nil, err
	}
	defer s.done()
	infos := make([]ValueInfo, len(names))
	for i, name := range names {
		var status uintptr
		info, err := takeType(typeOf(s.address, i, &status), status)
		if err != nil {
			return nil, err
		}
		infos[i] = ValueInfo{name, info}
	}
	return infos, nil
}

// EndProfiling ends the profile and gives the file that it went to; empty when profiling is off.
func (s *Session) EndProfiling() (file string, err error) {
	err = s.use(func(address uintptr, status *uintptr) {
		file = native.TakeString(native.End_profiling(address, status))
	})
	return file, err
}

// ProfilingStart is when the profile began, in nanoseconds on the library's clock.
func (s *Session) ProfilingStart() (nanoseconds uint64, err error) {
	err = s.use(func(address uintptr, status *uintptr) { nanoseconds = native.Profiling_start_ns(address, status) })
	return nanoseconds, err
}

// NodeAssignment says which execution provider runs a node.
type NodeAssignment struct {
	Provider string
	Node     string // its name
	Domain   string // of the operator; empty for ONNX's own
	Operator string
}

// NodeAssignments says which provider runs each node. The session must be made with options that record it; see
// SessionOptions.RecordNodeAssignments.
func (s *Session) NodeAssignments() ([]NodeAssignment, error) {
	if err := s.acquire(); err != nil {
		return nil, err
	}
	defer s.done()
	var status uintptr
	texts, err := takeTexts(native.Node_assignments(s.address, &status), status)
	if err != nil {
		return nil, err
	}
	assignments := make([]NodeAssignment, len(texts)/4)
	for i := range assignments {
		text := texts[4*i:]
		assignments[i] = NodeAssignment{text[0], text[1], text[2], text[3]}
	}
	return assignments, nil
}
