// Command device-plugin tells the kubelet of devices that are not there: a file says which, by their resource and id,
// and the health of each. A change of the file reaches the kubelet within a second.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

const (
	interval = 500 * time.Millisecond
	patience = 5 * time.Second
)

// devices is the health of each device by its id, in the API's words: Healthy or Unhealthy.
type devices map[string]string

// main serves every resource of the file. A kubelet that starts has forgotten its plugins and removed their sockets, so
// a resource whose socket is gone is registered anew.
func main() {
	file := os.Args[1]
	servers := map[string]*grpc.Server{}
	for ; ; time.Sleep(interval) {
		for resource := range read(file) {
			if server := servers[resource]; server != nil {
				if _, err := os.Stat(socket(resource)); err == nil {
					continue
				}
				server.Stop()
			}
			servers[resource] = serve(resource, file)
		}
	}
}

// read returns the devices of each resource; a node that has none has no file.
func read(file string) map[string]devices {
	found := map[string]devices{}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return found
	}
	if err == nil {
		err = json.Unmarshal(text, &found)
	}
	if err != nil {
		log.Fatalf("reading %s: %v", file, err)
	}
	return found
}

// serve starts the server of a resource and registers it; it returns nil when the kubelet does not take it yet.
func serve(resource, file string) *grpc.Server {
	path := socket(resource)
	os.Remove(path) // A plugin that was killed has left it.
	listener, err := net.Listen("unix", path)
	if err != nil {
		log.Fatalf("listening: %v", err)
	}
	server := grpc.NewServer()
	api.RegisterDevicePluginServer(server, plugin{resource: resource, file: file})
	go server.Serve(listener)
	if err := register(resource, filepath.Base(path)); err != nil {
		log.Printf("registering %s: %v", resource, err)
		server.Stop()
		return nil
	}
	log.Printf("registered %s", resource)
	return server
}

func register(resource, endpoint string) error {
	connection, err := grpc.NewClient("unix://"+api.KubeletSocket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer connection.Close()
	limited, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	request := &api.RegisterRequest{Version: api.Version, Endpoint: endpoint, ResourceName: resource}
	_, err = api.NewRegistrationClient(connection).Register(limited, request)
	return err
}

func socket(resource string) string {
	return filepath.Join(api.DevicePluginPath, "trainyard-"+strings.ReplaceAll(resource, "/", "-")+".sock")
}

// plugin answers the kubelet for one resource.
type plugin struct {
	api.UnimplementedDevicePluginServer
	resource, file string
}

func (p plugin) GetDevicePluginOptions(context.Context, *api.Empty) (*api.DevicePluginOptions, error) {
	return &api.DevicePluginOptions{}, nil
}

// ListAndWatch sends the devices at once and whenever the file says otherwise.
func (p plugin) ListAndWatch(_ *api.Empty, stream grpc.ServerStreamingServer[api.ListAndWatchResponse]) error {
	var sent devices
	for first := true; ; first = false {
		now := read(p.file)[p.resource]
		if first || !maps.Equal(sent, now) {
			response := &api.ListAndWatchResponse{}
			for _, id := range slices.Sorted(maps.Keys(now)) {
				response.Devices = append(response.Devices, &api.Device{ID: id, Health: now[id]})
			}
			if err := stream.Send(response); err != nil {
				return err
			}
			sent = now
		}
		select {
		case <-stream.Context().Done():
			return nil
		case <-time.After(interval):
		}
	}
}

// Allocate tells a container its devices, in a variable.
func (p plugin) Allocate(_ context.Context, request *api.AllocateRequest) (*api.AllocateResponse, error) {
	response := &api.AllocateResponse{}
	for _, container := range request.ContainerRequests {
		ids := slices.Sorted(slices.Values(container.DevicesIds))
		envs := map[string]string{p.variable(): strings.Join(ids, ",")}
		response.ContainerResponses = append(response.ContainerResponses, &api.ContainerAllocateResponse{Envs: envs})
	}
	return response, nil
}

// variable is the name that NVIDIA's device plugin uses, or the one that the SR-IOV network device plugin would.
func (p plugin) variable() string {
	if p.resource == "nvidia.com/gpu" {
		return "NVIDIA_VISIBLE_DEVICES"
	}
	return "PCIDEVICE_" + strings.ToUpper(strings.NewReplacer(".", "_", "/", "_", "-", "_").Replace(p.resource))
}
