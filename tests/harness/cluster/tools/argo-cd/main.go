// Argo CD without its web server: the controller of applications, the server that renders charts, and the store that
// both share, which is Redis in a real installation.
package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/alicebob/miniredis/v2"
	controller "github.com/argoproj/argo-cd/v3/cmd/argocd-application-controller/commands"
	repository "github.com/argoproj/argo-cd/v3/cmd/argocd-repo-server/commands"
	"github.com/spf13/cobra"
)

func main() {
	root := &cobra.Command{Use: "argo-cd", SilenceUsage: true}
	store := &cobra.Command{Use: "store ADDRESS", Args: cobra.ExactArgs(1), RunE: keep}
	root.AddCommand(controller.NewCommand(), repository.NewCommand(), store)
	if root.Execute() != nil {
		os.Exit(1)
	}
}

func keep(_ *cobra.Command, arguments []string) error {
	server := miniredis.NewMiniRedis()
	defer server.Close()
	if err := server.StartAddr(arguments[0]); err != nil {
		return err
	}
	stopped := make(chan os.Signal, 1)
	signal.Notify(stopped, syscall.SIGINT, syscall.SIGTERM)
	<-stopped
	return nil
}
