#!/usr/bin/env bash
# Supervises one container of the process runtime. It runs independently of the agent, so that the container,
# its log and its exit code survive the agent. Each of its processes uses about half a megabyte. It is written
# for bash, which can add a timestamp to a line without starting a process.
#
#   shim.sh start DIR   starts `shim.sh run DIR` in the background (the first child in the namespaces
#                       created by its caller), writes "pid N" to descriptor 3 and exits
#   shim.sh run DIR     sets up mounts, runs the command, records `started` and the exit; on TERM it
#                       passes TERM to the command's process group, on USR1 it kills that group;
#                       on USR2 it closes its end of the command's input, which then ends with its writers
#
# `started` contains its process id, the command's process id (both in the inner namespace) and the time. With
# a terminal, the command writes the terminal's path to `terminal` and its process id to `inner`. DIR contains
# these files with NUL-terminated values: `settings` (in the order read below), `argv`, `env`, `mounts`
# (triples: operation, source, target). Invariant: the exit file is written once, after the log is complete,
# and ends with a newline. The agent owns all other files.
set -u

# A record is smaller than a page, so that it is written atomically and streams never interleave within it.
line_bytes_max=4000

pump() { # stream, log file, seconds: writes a log record per line; splits long lines and, if seconds are
  #        given, lines that remain incomplete for that time, such as prompts
  local stream=$1 log=$2 patience=${3-} line now text tag code
  while
    IFS= read -r ${patience:+-t "$patience"} -n "$line_bytes_max" line
    code=$?
    ((code == 0 || code > 128)) || [[ -n $line ]]
  do
    ((code > 128)) && [[ -z $line ]] && continue
    tag=F
    ((code > 128 || ${#line} == line_bytes_max)) && tag=P
    now=$EPOCHREALTIME
    printf -v text '%(%Y-%m-%dT%H:%M:%S)T' "${now%.*}"
    printf '%s.%s000Z %s %s %s\n' "$text" "${now#*.}" "$stream" "$tag" "$line" >>"$log"
  done
}

refuse() { # message: reports that the command cannot be run, and exits
  printf 'error %s\n' "$1" >&3
  printf '128 %s\n' "$EPOCHREALTIME" >"$exit_file"
  exit 0
}

apply_mounts() {
  local index operation source target output
  for ((index = 0; index < ${#mounts[@]}; index += 3)); do
    operation=${mounts[index]} source=${mounts[index + 1]} target=${mounts[index + 2]}
    case $operation in
      tmpfs) output=$(mount -t tmpfs -o "$source" tmpfs "$target" 2>&1) ;;
      proc) output=$(mount -t proc proc "$target" 2>&1) ;;
      bind) output=$(mount --rbind "$source" "$target" 2>&1) ;;
      readonly) output=$(mount -o remount,bind,ro "$target" 2>&1) ;;
      overlay)
        output=$(mkdir -p "$source/upper" "$source/work" 2>&1 &&
          mount -t overlay -o "lowerdir=$target,upperdir=$source/upper,workdir=$source/work" \
            overlay "$target" 2>&1)
        ;;
      directory) output=$(mkdir -p "$target" 2>&1) ;;
      file) output=$(: >>"$target" 2>&1) ;;
      link) output=$(ln -s "$source" "$target" 2>&1) ;;
      devices) output=$(cp -a /dev/{null,zero,full,random,urandom,tty} "$target" 2>&1) ;;
      *) output="unknown operation" && false ;;
    esac || refuse "mount $operation $source $target: $output"
  done
}

# Whether the command is a file or is found in PATH. A symlink counts, because it may resolve only inside.
command_exists() {
  local command=$1 directory directories
  if [[ $command == */* ]]; then
    [[ $command == /* ]] || command=$working_directory/$command
    [[ -x $root_directory$command || -L $root_directory$command ]]
    return
  fi
  IFS=: read -r -a directories <<<"$search_path"
  for directory in "${directories[@]}"; do
    directory=$root_directory$directory/$command
    [[ -L $directory || (-x $directory && ! -d $directory) ]] && return
  done
  return 1
}

start_command() {
  local -a launch=(setsid)
  if [[ -n $root_directory ]]; then
    launch+=(chroot ${user:+"--userspec=$user"} ${user:+"--groups=$groups"} "$root_directory")
  elif [[ -n $user ]]; then
    launch+=(chroot "--userspec=$user" "--groups=$groups" /)
  fi
  # Bash ignores INT and QUIT in background processes; the command must not inherit that.
  launch+=(env -i --default-signal=INT,QUIT -C "$working_directory")
  launch+=("${environment[@]}" "${command[@]}")
  if [[ -n $terminal ]]; then
    local inside
    printf -v inside '%q ' "${launch[@]:1}"
    # The agent needs the path to set the size of the terminal.
    launch=(setsid script -qefc "echo \$\$ >${directory@Q}/inner; tty >${directory@Q}/terminal; exec $inside" /dev/null)
    export SHELL=$BASH
  fi
  local input=/dev/null
  [[ -z $input_mode ]] || input=$directory/stdin
  exec "${launch[@]}" <"$input" >"$directory/stdout" 2>"$directory/stderr" 3>&- 8>&- 9>&-
}

# Records the exit code of the command. Runs in a separate process that receives no signals, because bash loses
# the exit code of a process that ends while a signal interrupts the wait for it.
watch_command() {
  start_command &
  printf '%s\n' "$!" >&9
  wait "$!"
  printf '%s\n' "$?" >"$directory/code"
}

forward() { # signal
  interrupted=1
  local target
  local -a targets=("$child")
  if [[ -n $terminal && -s $directory/inner ]]; then
    # On TERM `script` gives the command only two seconds and then loses its exit code.
    [[ $1 == KILL ]] || targets=()
    targets+=("$(<"$directory/inner")")
  fi
  for target in "${targets[@]}"; do
    kill "-$1" -- "-$target" 2>/dev/null || kill "-$1" "$target" 2>/dev/null
  done
}

# Descendants of the command that keep its output open must not delay the exit record.
drain_logs() {
  local turn
  for ((turn = 0; turn < 200; turn += 1)); do
    kill -0 "$stdout_pump" 2>/dev/null || kill -0 "$stderr_pump" 2>/dev/null || return
    read -r -t 0.01 -u 9 _
  done
  kill -KILL "$stdout_pump" "$stderr_pump" 2>/dev/null
}

run() {
  directory=$1
  # The agent at the other end of descriptor 3 may have exited.
  trap : PIPE
  local -a settings mounts environment command
  mapfile -d '' -t settings <"$directory/settings"
  mapfile -d '' -t mounts <"$directory/mounts"
  mapfile -d '' -t environment <"$directory/env"
  mapfile -d '' -t command <"$directory/argv"
  exit_file=${settings[0]}
  local log=${settings[1]} hostname=${settings[5]}
  root_directory=${settings[2]} working_directory=${settings[3]} search_path=${settings[4]}
  user=${settings[6]} groups=${settings[7]} input_mode=${settings[8]-} terminal=${settings[9]-}
  umask 0022
  [[ -z $hostname ]] || printf '%s' "$hostname" >/proc/sys/kernel/hostname ||
    refuse "cannot set the host name $hostname"
  apply_mounts
  [[ -d $root_directory$working_directory ]] ||
    refuse "the working directory $working_directory does not exist"
  command_exists "${command[0]}" ||
    refuse "exec: \"${command[0]}\": executable file not found in \$PATH"

  local code interrupted=0
  mkfifo -m 0666 "$directory/stdout" "$directory/stderr" "$directory/idle" ||
    refuse "cannot create the output pipes"
  exec 9<>"$directory/idle"
  # Kept open, so that the command waits for input also without a connected client.
  [[ -z $input_mode ]] || { mkfifo -m 0600 "$directory/stdin" && exec 8<>"$directory/stdin"; } ||
    refuse "cannot create the input pipe"
  pump stdout "$log" ${terminal:+0.05} <"$directory/stdout" 3>&- 8>&- 9>&- &
  local stdout_pump=$!
  pump stderr "$log" <"$directory/stderr" 3>&- 8>&- 9>&- &
  local stderr_pump=$!
  watch_command 3>&- 8>&- &
  local watcher=$!
  read -r -u 9 child
  trap 'forward TERM' TERM
  trap 'forward KILL' USR1
  trap 'interrupted=1; exec 8>&-' USR2
  printf '%s %s %s\n' "$$" "$child" "$EPOCHREALTIME" >"$directory/started"
  printf 'ok\n' >&3
  exec 3>&- 2>/dev/null
  while
    interrupted=0
    wait "$watcher"
    ((interrupted))
  do :; done
  if [[ -s $directory/code ]]; then code=$(<"$directory/code"); else
    # The process that records the exit code was killed.
    forward KILL
    code=137
  fi
  trap '' TERM USR1 USR2
  drain_logs
  printf '%s %s\n' "$code" "$EPOCHREALTIME" >"$exit_file"
}

main() {
  case $1 in
    start)
      # Only one fork: the first child is process 1 of a new process namespace.
      bash "$0" run "$2" &
      printf 'pid %s\n' "$!" >&3
      ;;
    run) run "$2" ;;
  esac
  exit 0
}
main "$@"
