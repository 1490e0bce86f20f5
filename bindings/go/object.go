// How long objects of the library live: while they are open, while a call uses them, and while objects made from them
// live. An object that is not closed is released some time after the program has lost it.

package ortolan

import (
	"sync/atomic"
)

// class is what objects of a kind have in common.
type class struct {
	name    string
	release func(address uintptr)
}

// object is an object of the library with its users: calls in progress and children. It is released when it is closed
// and has no users; then it stops using its parents.
type object struct {
	address uintptr
	class   *class
	parents []*object
	state   atomic.Int64 // users * oneUser, + closed
}

const (
	closed  = 1
	oneUser = 2
)

// init makes the object the owner of an address. It becomes a user of its parents, which the caller uses too.
func (o *object) init(class *class, address uintptr, parents ...*object) {
	o.address, o.class, o.parents = address, class, parents
	for _, parent := range parents {
		parent.state.Add(oneUser)
	}
}

// acquire makes the caller a user of the object, until done; it fails when the object is closed.
func (o *object) acquire() error {
	for {
		state := o.state.Load()
		if state&closed != 0 || o.address == 0 {
			return closedError(o.name())
		}
		if o.state.CompareAndSwap(state, state+oneUser) {
			return nil
		}
	}
}

func (o *object) done() {
	if o.state.Add(-oneUser) == closed {
		o.destroy()
	}
}

// close ends the owner's use; calls in progress and children go on.
func (o *object) close() {
	for {
		state := o.state.Load()
		if state&closed != 0 || o.address == 0 {
			return
		}
		if o.state.CompareAndSwap(state, state|closed) {
			if state == 0 {
				o.destroy()
			}
			return
		}
	}
}

func (o *object) destroy() {
	o.class.release(o.address)
	for _, parent := range o.parents {
		parent.done()
	}
	o.parents = nil
}

func (o *object) isClosed() bool { return o.state.Load()&closed != 0 }

func (o *object) name() string {
	if o.class == nil {
		return "object"
	}
	return o.class.name
}

// use calls the library with the object's address and a place for its status.
func (o *object) use(call func(address uintptr, status *uintptr)) error {
	if err := o.acquire(); err != nil {
		return err
	}
	defer o.done()
	var status uintptr
	call(o.address, &status)
	return failure(status)
}

// acquireAll acquires several objects, or none.
func acquireAll(objects ...*object) error {
	for i, o := range objects {
		if err := o.acquire(); err != nil {
			doneAll(objects[:i]...)
			return err
		}
	}
	return nil
}

func doneAll(objects ...*object) {
	for _, o := range objects {
		o.done()
	}
}
