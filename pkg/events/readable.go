package events

import (
	"context"
	"errors"
	"time"
)

// Readable is a Watcher for readers to whom the last readable event of a
// subject counts. What they know is then the same whether they were there all
// the time or begin now: a function of what the stream holds.
//
// It reads each event, and Update.Read returns the outcome. One that cannot
// be read leaves what the reader knows. Where the state brings one, the last
// readable event before it that the stream still holds is handed on first, or
// Gone if there is none; and so is Gone once the stream keeps nothing but
// unreadable events of the subject. It is for a Watch of state, without
// Since.
type Readable struct {
	Watcher
	// Accept, if set, refuses events that can be read but make no sense to
	// the reader. They count as unreadable.
	Accept func(*Received) error
}

// maxHeld is how many subjects are looked up at a time.
const maxHeld = 256

// Watch implements Watcher.
func (r Readable) Watch(ctx context.Context, w Watch, fn func(Update) error) error {
	s := &sieve{ctx: ctx, Readable: r, stream: w.Stream, fn: fn, keep: PerSubject(w.Stream), held: map[string]*heldBack{}, trailing: map[string]int64{}}
	return r.Watcher.Watch(ctx, w, s.update)
}

// sieve is one Watch of a Readable.
type sieve struct {
	Readable
	ctx    context.Context
	stream string
	fn     func(Update) error
	keep   int64

	// inStep: each event comes, so what the reader knows of a subject is what
	// stood before an unreadable one.
	inStep bool
	held   map[string]*heldBack // by subject, until it is known what stood before
	// trailing counts the unreadable events that are a subject's last ones.
	trailing map[string]int64
}

// heldBack are the unreadable events of a subject that came while its
// predecessors are not known.
type heldBack struct {
	updates []Update
	before  *Update // the last readable event before them
	between int64   // unreadable events between
}

func (s *sieve) update(u Update) error {
	switch u.Kind {
	case Stored:
		return s.stored(s.read(u))
	case Gone:
		delete(s.trailing, u.Message.Subject)
		if err := s.release(u.Message.Subject); err != nil {
			return err
		}
	case Behind:
		s.inStep = false
	case Synced:
		if err := s.resolve(); err != nil {
			return err
		}
		s.inStep = true
	}
	return s.fn(u)
}

// read decodes the event.
func (s *sieve) read(u Update) Update {
	received, err := Read(u.Message)
	if err == nil && s.Accept != nil {
		err = s.Accept(&received)
	}
	u.outcome = &outcome{received, err}
	return u
}

func (s *sieve) stored(u Update) error {
	subject := u.Message.Subject
	switch {
	case u.outcome.err == nil:
		delete(s.trailing, subject)
		if err := s.release(subject); err != nil {
			return err
		}
	case s.inStep:
		if err := s.count(subject, 1); err != nil {
			return err
		}
	default:
		return s.hold(u)
	}
	return s.fn(u)
}

// count adds unreadable events to a subject's last ones. With the last
// readable one that the stream holds goes what is known from it.
func (s *sieve) count(subject string, more int64) error {
	before := s.trailing[subject]
	now := before + more
	if s.keep > 0 {
		now = min(now, s.keep)
	}
	s.trailing[subject] = now
	if now == s.keep && before < now && parses(subject) {
		return s.fn(s.gone(subject))
	}
	return nil
}

func (s *sieve) gone(subject string) Update {
	return Update{Kind: Gone, Message: Message{Stream: s.stream, Subject: subject}}
}

// parses reports whether there can be a readable event on subject at all.
func parses(subject string) bool {
	_, err := ParseSubject(subject)
	return err == nil && CheckSubject(subject) == nil
}

func (s *sieve) hold(u Update) error {
	subject := u.Message.Subject
	if !parses(subject) {
		return s.fn(u)
	}
	if s.held[subject] == nil {
		s.held[subject] = &heldBack{}
	}
	h := s.held[subject]
	h.updates = append(h.updates, u)
	if len(s.held) < maxHeld {
		return nil
	}
	return s.resolve()
}

// release hands on what was held back of a subject.
func (s *sieve) release(subject string) error {
	h := s.held[subject]
	if h == nil {
		return nil
	}
	delete(s.held, subject)
	for _, u := range h.updates {
		if err := s.fn(u); err != nil {
			return err
		}
	}
	return nil
}

// resolve hands on all that was held back, after what stood before.
func (s *sieve) resolve() error {
	if len(s.held) == 0 {
		return nil
	}
	if err := s.lookUp(); err != nil {
		return err
	}
	for subject, h := range s.held {
		s.trailing[subject] = 0
		before := s.gone(subject)
		if h.before != nil {
			before = *h.before
		}
		if err := s.fn(before); err != nil {
			return err
		}
		if err := s.count(subject, h.between+int64(len(h.updates))); err != nil {
			return err
		}
		if err := s.release(subject); err != nil {
			return err
		}
	}
	return nil
}

var errLookedUp = errors.New("looked up")

// lookUp reads what the stream holds of the subjects that are held back.
func (s *sieve) lookUp() error {
	w := Watch{Stream: s.stream, Since: time.Unix(1, 0)}
	for subject := range s.held {
		w.Subjects = append(w.Subjects, subject)
	}
	err := s.Watcher.Watch(s.ctx, w, func(u Update) error {
		switch u.Kind {
		case Synced:
			return errLookedUp
		case Stored:
			s.found(u)
		}
		return nil
	})
	if errors.Is(err, errLookedUp) {
		return nil
	}
	return err
}

// found takes one event of the past, oldest first.
func (s *sieve) found(u Update) {
	h := s.held[u.Message.Subject]
	if h == nil || u.Message.Sequence >= h.updates[0].Message.Sequence {
		return
	}
	if u = s.read(u); u.outcome.err == nil {
		h.before, h.between = &u, 0
	} else {
		h.between++
	}
}
