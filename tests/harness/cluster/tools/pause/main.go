// Command pause holds a pod's namespaces open. With `-probe` it mounts a tmpfs and leaves, which only a privileged
// container may do: that is how the harness finds out whether a container engine can run kind's nodes.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "-probe" {
		if err := syscall.Mount("tmpfs", "/tmp", "tmpfs", 0, ""); err != nil {
			fmt.Fprintln(os.Stderr, "mounting a tmpfs in a privileged container:", err)
			os.Exit(1)
		}
		return
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGCHLD)
	for received := range signals {
		if received != syscall.SIGCHLD {
			return
		}
		reap()
	}
}

// reap collects orphans: with a shared process namespace this program is their init.
func reap() {
	for {
		if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 || err != nil {
			return
		}
	}
}
