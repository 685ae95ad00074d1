# Shared by up and down: not a program.

project=${COMPOSE_PROJECT_NAME:-spokewire}
export COMPOSE_PROJECT_NAME="$project"
# What spokewire on this machine needs to reach the stack is written here.
data=${SPOKEWIRE_COMPOSE_DATA:-${XDG_STATE_HOME:-$HOME/.local/state}/spokewire/compose}
case $data in
/*) ;;
*) data=$PWD/$data ;;
esac
cd "$(dirname "$0")"

# ours reports whether the directory is up's: it alone is written, or removed.
ours() {
	[ -f "$data/nats-url" ] || [ -z "$(ls -A "$data" 2>/dev/null)" ]
}

# compose runs Docker Compose, v2 where there is one.
compose() {
	if docker compose version >/dev/null 2>&1; then
		docker compose --file compose.yaml "$@"
	elif command -v docker-compose >/dev/null; then
		docker-compose --file compose.yaml "$@"
	else
		echo "there is no Docker Compose: install docker-compose, or the compose plugin of docker" >&2
		return 1
	fi
}

# containers prints the ids of the project's containers that a filter matches.
containers() {
	docker ps --all --quiet --filter "label=com.docker.compose.project=$project" --filter "$1"
}
