package worker

// RaceEnabled says whether the race detector is built in.
const RaceEnabled = raceEnabled

// SharedDir is a directory that lasts as long as the tests.
func SharedDir() string { return testDir() }
