package worker

import "time"

// packTime keeps what a program can see of a time: the instant and, outside
// local time, the zone.
func packTime(t time.Time) timeMeta {
	zone, offset := t.Zone()
	return timeMeta{Seconds: t.Unix(), Nanos: t.Nanosecond(), Zone: zone, Offset: offset, Local: t.Location() == time.Local}
}

func (m timeMeta) time() time.Time {
	t := time.Unix(m.Seconds, int64(m.Nanos))
	if m.Local {
		return t
	}
	return t.In(time.FixedZone(m.Zone, m.Offset))
}
