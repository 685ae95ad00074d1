// Package record keeps what a model was asked and what it answered: for who
// wants to know where a score comes from, and to ask nothing twice.
package record

import (
	"container/list"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spokewire/spokewire/internal/llm"
)

// Record is one question and its answer.
type Record struct {
	Digest string          `json:"digest"`
	At     time.Time       `json:"at"`
	Scorer string          `json:"scorer"`
	Asked  json.RawMessage `json:"asked"`    // the request's body
	Answer json.RawMessage `json:"answered"` // the completion's
	Rating llm.Rating      `json:"rating"`
}

// Store keeps the records that were made or asked for last. It is safe for
// concurrent use.
type Store struct {
	dir string
	max int
	log *slog.Logger

	mu      sync.Mutex
	ratings map[string]*list.Element // of entries, by digest
	order   *list.List               // the last used in front
	// held are whole records where there is no dir: the newest maxHeld.
	held   map[string]*Record
	newest []string
}

// maxHeld bounds the records in memory: each may have a hundred kilobytes.
const maxHeld = 200

// entry is what is in memory of a record.
type entry struct {
	digest string
	rating llm.Rating
}

const suffix = ".json"

var digestName = regexp.MustCompile(`^[0-9a-f]{32}$`)

// Open reads the records in dir, which is made if need be; "" keeps them in
// memory alone. A file that cannot be read is passed over with a warning.
func Open(dir string, most int, log *slog.Logger) (*Store, error) {
	s := &Store{dir: dir, max: most, log: log, ratings: map[string]*list.Element{}, order: list.New(), held: map[string]*Record{}}
	if dir == "" {
		return s, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("records.dir: %w", err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("records.dir: %w", err)
	}
	var all []*Record
	for _, f := range files {
		digest, isRecord := strings.CutSuffix(f.Name(), suffix)
		if !isRecord {
			continue
		}
		r, err := s.read(digest)
		if err != nil {
			log.Warn("a record is passed over", "file", f.Name(), "err", err)
			continue
		}
		r.Asked, r.Answer = nil, nil
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *Record) int { return a.At.Compare(b.At) })
	for _, r := range all {
		s.insert(r)
	}
	return s, nil
}

// Rating returns the rating of a question that was asked before.
func (s *Store) Rating(digest string) (llm.Rating, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.ratings[digest]
	if e == nil {
		return llm.Rating{}, false
	}
	s.order.MoveToFront(e)
	return e.Value.(entry).rating, true //nolint:forcetypeassert // all are
}

// Put keeps a record, in place of the one that was not used for longest where
// there are too many. An error means that it will be forgotten at a restart.
func (s *Store) Put(r *Record) error {
	var err error
	if s.dir != "" {
		err = s.write(r)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.insert(r)
	return err
}

// insert is Put in memory.
func (s *Store) insert(r *Record) {
	if old := s.ratings[r.Digest]; old != nil {
		s.order.Remove(old)
	}
	s.ratings[r.Digest] = s.order.PushFront(entry{r.Digest, r.Rating})
	if s.dir == "" {
		s.hold(r)
	}
	for s.order.Len() > s.max {
		last := s.order.Back()
		digest := s.order.Remove(last).(entry).digest //nolint:forcetypeassert // all are
		delete(s.ratings, digest)
		delete(s.held, digest)
		if s.dir != "" {
			if err := os.Remove(s.path(digest)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				s.log.Warn("an old record stays", "digest", digest, "err", err)
			}
		}
	}
}

// hold keeps a whole record in memory.
func (s *Store) hold(r *Record) {
	if s.held[r.Digest] == nil {
		s.newest = append(s.newest, r.Digest)
	}
	s.held[r.Digest] = r
	if len(s.newest) > maxHeld {
		delete(s.held, s.newest[0])
		s.newest = s.newest[1:]
	}
}

// Get returns a whole record, and fs.ErrNotExist for none.
func (s *Store) Get(digest string) (*Record, error) {
	if !digestName.MatchString(digest) {
		return nil, fs.ErrNotExist
	}
	s.mu.Lock()
	held := s.held[digest]
	s.mu.Unlock()
	switch {
	case held != nil:
		return held, nil
	case s.dir == "":
		return nil, fs.ErrNotExist
	}
	return s.read(digest)
}

func (s *Store) path(digest string) string { return filepath.Join(s.dir, digest+suffix) }

func (s *Store) read(digest string) (*Record, error) {
	text, err := os.ReadFile(s.path(digest))
	if err != nil {
		return nil, err
	}
	var r Record
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, err
	}
	if r.Digest != digest {
		return nil, fmt.Errorf("it is of digest %.40q", r.Digest)
	}
	return &r, nil
}

// write leaves either the whole file or none.
func (s *Store) write(r *Record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	temporary := s.path(r.Digest) + ".new"
	if err := os.WriteFile(temporary, text, 0o600); err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	return os.Rename(temporary, s.path(r.Digest))
}
