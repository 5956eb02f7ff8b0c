//go:build !race

package worker

// raceEnabled says whether the race detector is built in. Its shadow memory does
// not fit under RLIMIT_DATA.
const raceEnabled = false
