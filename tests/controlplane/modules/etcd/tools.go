//go:build tools

// Package tools names the programs that the test harness builds from this module.
package tools

import (
	_ "go.etcd.io/etcd/server/v3"
)
