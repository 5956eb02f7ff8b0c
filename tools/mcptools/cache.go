package mcptools

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// cached is the list of tools a server had the last time, each as it was sent.
type cached struct {
	Tools []string `json:"tools"`
}

// cacheFile is where the server's list is kept, "" for nowhere. It is named for
// what reaches the server, without env and headers: these are secrets.
func (s *server) cacheFile() string {
	if !s.cfg.Lazy || s.client.opts.CacheDir == "" {
		return ""
	}
	key, err := json.Marshal([]any{s.name, s.cfg.kind(), s.cfg.Command, s.cfg.Args, s.cfg.Dir, s.cfg.URL})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(key)
	return filepath.Join(s.client.opts.CacheDir, s.name+"-"+hex.EncodeToString(sum[:8])+".json")
}

// restore takes the tools from the cache and reports whether it could.
func (s *server) restore() bool {
	file := s.cacheFile()
	if file == "" {
		return false
	}
	list, err := readCache(file)
	if err != nil || len(list.Tools) > maxTools {
		return false // it is written anew
	}
	s.install(list.Tools)
	return true
}

func readCache(file string) (list cached, err error) {
	info, err := os.Lstat(file)
	if err != nil {
		return list, err
	}
	if !info.Mode().IsRegular() {
		return list, fmt.Errorf("%s is no regular file", file)
	}
	f, err := os.Open(file)
	if err != nil {
		return list, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 2*maxMessage))
	if err != nil {
		return list, err
	}
	return list, json.Unmarshal(text, &list)
}

// remember keeps a list for the next time. Failing to is a note.
func (s *server) remember(texts []string) {
	file := s.cacheFile()
	if file == "" {
		return
	}
	if err := writeCache(file, cached{texts}); err != nil {
		s.note("its list of tools is not kept: " + err.Error())
	}
}

// writeCache replaces a file as a whole.
func writeCache(file string, list cached) error {
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+"-*") // readable by the user only
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
