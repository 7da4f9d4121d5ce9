//go:build tools

// Package tools names the program that the test harness builds from this module.
package tools

import (
	_ "code.gitea.io/gitea"
)
