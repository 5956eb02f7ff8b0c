package worker

// marker is the argv[0] of a worker. It asks for the hook's checks; by itself it
// gives a process nothing.
const marker = "runcode-worker"

// depthVar is set in the environment of every worker and selects nothing. A
// process that has it and still gets as far as New is a binary that does not act
// on the hook: it must not start itself again.
const depthVar = "RUNCODE_WORKER_DEPTH"

// linkDescriptor is where a worker finds its end of the socket pair.
const linkDescriptor = 3
