#!/bin/sh
# Installs Whereabouts on a node. `install` copies the plugin, its configuration and its credentials; `renew` refreshes
# the credentials in an endless loop. Files are renamed into place: a running plugin cannot be overwritten, and no plugin
# may read an incomplete file.
set -eu

account=/var/run/secrets/kubernetes.io/serviceaccount
folder=/host/config/whereabouts.d

put() {
  cat > "$folder/$1.new"
  chmod 600 "$folder/$1.new"
  mv "$folder/$1.new" "$folder/$1"
}

credentials() {
  # A URL needs brackets around an IPv6 address.
  case $KUBERNETES_SERVICE_HOST in
    *:*) host="[$KUBERNETES_SERVICE_HOST]" ;;
    *) host=$KUBERNETES_SERVICE_HOST ;;
  esac
  put whereabouts.kubeconfig << EOF
apiVersion: v1
kind: Config
current-context: whereabouts
clusters:
  - name: cluster
    cluster:
      server: https://$host:$KUBERNETES_SERVICE_PORT
      certificate-authority-data: $(base64 < "$account/ca.crt" | tr -d '\n')
users:
  - name: whereabouts
    user:
      token: $(cat "$account/token")
contexts:
  - name: whereabouts
    context: {cluster: cluster, user: whereabouts, namespace: $WHEREABOUTS_NAMESPACE}
EOF
}

case $1 in
  install)
    mkdir -p "$folder"
    credentials
    put whereabouts.conf << EOF
{"datastore": "kubernetes", "kubernetes": {"kubeconfig": "$NODE_CONFIG/whereabouts.d/whereabouts.kubeconfig"}}
EOF
    cp /whereabouts /host/programs/whereabouts.new
    mv /host/programs/whereabouts.new /host/programs/whereabouts
    ;;
  renew)
    # The kubelet renews the token after 80% of its lifetime of one hour.
    while sleep 300; do credentials; done
    ;;
esac
