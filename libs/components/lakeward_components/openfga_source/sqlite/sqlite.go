// Package sqlite stands in for SQLite translated to Go, whose compilation takes as long as a fifth of all the rest.
//
// OpenFGA looks at its errors where it keeps its data in SQLite. This one registers no driver, so that can't be asked for.
package sqlite

// Error is one that nobody makes.
type Error struct{}

// Error says what it is.
func (*Error) Error() string { return "this OpenFGA was built without SQLite" }

// Code is no code of SQLite's.
func (*Error) Code() int { return 0 }
