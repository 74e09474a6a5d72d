#!/usr/bin/env bash
# Makes certificates and tokens in a folder (secrets/ by default) and prints them as Kubernetes
# secrets. Run again, it keeps the files that are there. Keep the folder: it holds the authority.
#   bash secrets.sh [FOLDER] | kubectl apply --filename -
#
# The token in FOLDER/admin.token is for the page and the commands:
#   kubectl --namespace kagetsu port-forward service/kagetsu-coordinator 7615 7616
#   kagetsu jobs list --coordinator https://localhost:7615 --tls-ca FOLDER/ca.pem \
#       --tls-cert FOLDER/client.pem --tls-key FOLDER/client.key --token-file FOLDER/admin.token
set -euo pipefail
umask 077

folder=${1:-secrets}
namespace=${NAMESPACE:-kagetsu}
service=kagetsu-coordinator
if [[ ! -e $folder/certs.toml ]]; then
    kagetsu certs "$folder" --host "$service" --host "$service.$namespace.svc" >&2
fi
for pair in worker:work admin:admin read:read; do
    name=${pair%:*}
    [[ -e $folder/$name.token ]] && continue
    kagetsu token new --tokens "$folder/tokens.toml" --role "${pair#*:}" "$name" >"$folder/$name.token.new"
    mv "$folder/$name.token.new" "$folder/$name.token"
done

secret() { # name, files
    local name=$1
    shift
    kubectl create secret generic "$name" --namespace "$namespace" --dry-run=client --output yaml \
        "${@/#/--from-file=$folder/}"
    echo ---
}
secret kagetsu-coordinator coordinator.pem coordinator.key ca.pem tokens.toml
secret kagetsu-worker ca.pem client.pem client.key worker.token
secret kagetsu-monitoring read.token
