package proc

// kept collects what is kept of a stream, in no more memory than that takes.
type kept struct {
	maxHead, maxTail int
	size             int64
	head             []byte
	tail             []byte // once it is full, a ring
	oldest           int    // where the ring begins
}

// newKept keeps limit bytes: of the beginning alone, or half of them of the end.
func newKept(limit int, tail bool) kept {
	limit = max(limit, 0)
	if !tail {
		return kept{maxHead: limit}
	}
	return kept{maxHead: limit - limit/2, maxTail: limit / 2}
}

func (k *kept) add(b []byte) {
	k.size += int64(len(b))
	n := min(k.maxHead-len(k.head), len(b))
	k.head = append(k.head, b[:n]...)
	b = b[n:]
	if len(b) > k.maxTail { // what is before is replaced in any case
		b = b[len(b)-k.maxTail:]
	}
	n = min(k.maxTail-len(k.tail), len(b))
	k.tail = append(k.tail, b[:n]...)
	for b = b[n:]; len(b) > 0; b = b[n:] {
		n = copy(k.tail[k.oldest:], b)
		k.oldest = (k.oldest + n) % len(k.tail)
	}
}

func (k *kept) output() Output {
	tail := string(k.tail[k.oldest:]) + string(k.tail[:k.oldest])
	if k.size == int64(len(k.head)+len(tail)) {
		return Output{Head: string(k.head) + tail, Size: k.size}
	}
	return Output{Head: string(k.head), Tail: tail, Size: k.size}
}
