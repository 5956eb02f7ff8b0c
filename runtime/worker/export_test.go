package worker

// RaceEnabled says whether the race detector is built in.
const RaceEnabled = raceEnabled
