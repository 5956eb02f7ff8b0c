package gojavm

// LeaveToEsbuild has esbuild read every program that the runtime gets from now on.
func (rt *Runtime) LeaveToEsbuild() { rt.programs.esbuild = true }
