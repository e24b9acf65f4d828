module trainyard/tools/device-plugin

go 1.26.0

require (
	google.golang.org/grpc v1.74.2
	k8s.io/kubelet v0.34.4
)

require (
	golang.org/x/net v0.46.0 // indirect
	golang.org/x/sys v0.37.0 // indirect
	golang.org/x/text v0.30.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20250728155136-f173205681a0 // indirect
	google.golang.org/protobuf v1.36.8 // indirect
)
