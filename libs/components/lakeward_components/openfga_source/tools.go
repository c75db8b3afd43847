//go:build tools

// Package tools names the program that this module is for, so that its requirements are kept.
package tools

import _ "github.com/openfga/openfga/cmd/openfga"
