package outbox

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

const (
	fileName = "outbox.db"
	format   = "1"
	lockWait = 2 * time.Second
)

var (
	metaBucket  = []byte("meta")
	entryBucket = []byte("snapshots")
	formatKey   = []byte("format")
	epochKey    = []byte("epoch")
	nonceKey    = []byte("nonce")
)

// header is the first line of a stored snapshot; its event, in structured
// mode, is the rest.
type header struct {
	Cluster string    `json:"cluster"`
	Source  string    `json:"source"`
	Taken   time.Time `json:"taken"`
}

// open opens or creates the file in dir. A file that is no outbox any more
// is put aside, not deleted; aside is then its new path.
func open(dir string, now time.Time) (db *bbolt.DB, aside string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, "", fmt.Errorf("outbox: %w", err)
	}
	path := filepath.Join(dir, fileName)
	db, err = lock(path)
	if broken(err) {
		aside = fmt.Sprintf("%s.broken-%d", path, now.UnixNano())
		if err := os.Rename(path, aside); err != nil {
			return nil, "", fmt.Errorf("outbox: %w", err)
		}
		db, err = lock(path)
	}
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, aside, fmt.Errorf("outbox: %s is in use by another collector: give each its own directory", path)
	case err != nil:
		return nil, aside, fmt.Errorf("outbox: %s: %w", path, err)
	}
	return db, aside, nil
}

// lock opens the file at path. If the process that had it put another in its
// place meanwhile (see shrink), it opens that one.
func lock(path string) (*bbolt.DB, error) {
	for {
		before, _ := os.Stat(path) // nil where there is none yet
		db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockWait})
		if err != nil {
			return nil, err
		}
		after, _ := os.Stat(path)
		if after != nil && (before == nil || os.SameFile(before, after)) {
			return db, nil
		}
		if err := db.Close(); err != nil {
			return nil, err
		}
	}
}

func broken(err error) bool {
	return errors.Is(err, bolterrors.ErrInvalid) || errors.Is(err, bolterrors.ErrChecksum) || errors.Is(err, bolterrors.ErrVersionMismatch)
}

// identity is what a store is created with.
type identity struct {
	epoch int64
	nonce string
}

// identify reads the store's identity, or gives it one.
func identify(db *bbolt.DB, now time.Time) (identity, error) {
	var id identity
	err := db.Update(func(tx *bbolt.Tx) error {
		if _, err := tx.CreateBucketIfNotExists(entryBucket); err != nil {
			return err
		}
		meta, err := tx.CreateBucketIfNotExists(metaBucket)
		if err != nil {
			return err
		}
		if have := meta.Get(formatKey); have == nil {
			id = identity{epoch: now.UnixNano(), nonce: rand.Text()}
			return errors.Join(
				meta.Put(formatKey, []byte(format)),
				meta.Put(epochKey, key(uint64(id.epoch))),
				meta.Put(nonceKey, []byte(id.nonce)),
			)
		} else if string(have) != format {
			return fmt.Errorf("its format is %q, this version reads %q: use the collector that wrote it, or another directory", have, format)
		}
		id = identity{epoch: int64(binary.BigEndian.Uint64(meta.Get(epochKey))), nonce: string(meta.Get(nonceKey))}
		return nil
	})
	if err != nil {
		return id, fmt.Errorf("outbox: %s: %w", db.Path(), err)
	}
	return id, nil
}

func key(sequence uint64) []byte { return binary.BigEndian.AppendUint64(nil, sequence) }

// load reads the headers of all that is stored.
func load(db *bbolt.DB) (*index, error) {
	x := &index{queues: map[Source][]*entry{}}
	err := db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(entryBucket).ForEach(func(k, v []byte) error {
			sequence := binary.BigEndian.Uint64(k)
			h, _, err := split(v)
			if err != nil {
				return fmt.Errorf("snapshot %d: %w", sequence, err)
			}
			x.add(&entry{sequence: sequence, source: Source{h.Cluster, h.Source}, size: int64(len(v)), taken: h.Taken})
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("outbox: %s: %w", db.Path(), err)
	}
	return x, nil
}

func encode(source Source, taken time.Time, e event.Event) ([]byte, error) {
	line, err := json.Marshal(header{Cluster: source.Cluster, Source: source.Name, Taken: taken.UTC()})
	if err != nil {
		return nil, err
	}
	body, err := e.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return bytes.Join([][]byte{line, body}, []byte("\n")), nil
}

func split(value []byte) (header, []byte, error) {
	line, body, ok := bytes.Cut(value, []byte("\n"))
	var h header
	if !ok {
		return h, nil, errors.New("has no header line")
	}
	if err := json.Unmarshal(line, &h); err != nil {
		return h, nil, fmt.Errorf("header: %w", err)
	}
	return h, body, nil
}
