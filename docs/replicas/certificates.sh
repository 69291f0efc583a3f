#!/bin/sh
# Makes an authority and a certificate for each node that is named, in the folder of the first argument:
#   certificates.sh FOLDER one two three
# For a cluster to try things with: in production certificates come from an authority that is kept elsewhere.
set -eu
umask 077
folder=$1
shift
mkdir -p "$folder/ca"
cd "$folder"
if [ ! -f ca/ca.crt ]; then
  openssl req -x509 -newkey rsa:2048 -nodes -sha256 -days 1825 -subj /O=Quire/CN=eventstore-ca \
    -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign \
    -keyout ca.key -out ca/ca.crt
fi
for node in "$@"; do
  if [ -f "$node/node.crt" ]; then continue; fi
  mkdir -p "$node"
  # Nodes know each other by the common name, which is that of all; clients look at the names after it.
  openssl req -newkey rsa:2048 -nodes -sha256 -subj /CN=eventstoredb-node -keyout "$node/node.key" -out "$node/node.csr"
  printf '%s\n' 'basicConstraints=CA:FALSE' 'keyUsage=critical,digitalSignature,keyEncipherment' \
    'extendedKeyUsage=serverAuth,clientAuth' "subjectAltName=DNS:$node,DNS:eventstore,DNS:localhost,IP:127.0.0.1" \
    >"$node/node.ext"
  openssl x509 -req -sha256 -days 825 -in "$node/node.csr" -extfile "$node/node.ext" \
    -CA ca/ca.crt -CAkey ca.key -CAcreateserial -out "$node/node.crt"
  rm "$node/node.csr" "$node/node.ext"
done
# The servers run as a user of their own. The authority's key stays with the one who runs this.
chmod 755 . ca "$@"
chmod 644 ca/ca.crt
for node in "$@"; do
  chmod 644 "$node/node.crt"
  chown "${OWNER:-$(id -u):$(id -g)}" "$node/node.key"
done
