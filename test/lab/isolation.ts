import { spawnSync } from "node:child_process";
import { chownSync, realpathSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { emptyHome, type Place } from "./places.js";

/** User and group `nobody`. */
const NOBODY = 65_534;
const PROJECT = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
const NAMESPACES = ["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"];
const SYSTEM = ["/bin", "/dev", "/etc", "/lib", "/lib64", "/mnt", "/opt", "/proc", "/sbin", "/sys"];

/** `full`: network, processes and files of its own; `network`: only that, where mounts are refused. */
export type Isolation = "full" | "network";

function works(args: readonly string[]): boolean {
  return spawnSync("unshare", args, { stdio: "ignore", timeout: 5_000 }).status === 0;
}

/** The best this machine can do. Throws when it cannot keep a server from the network. */
export function availableIsolation(): Isolation {
  if (process.getuid?.() !== 0)
    throw new Error("the lab needs root, to give servers less than that");
  if (!works(["--net", "--", "true"]))
    throw new Error("no network namespaces here: no server is run");
  const mounts = "mount --make-rprivate / && mount -t tmpfs tmpfs /mnt";
  return works([...NAMESPACES, "--", "sh", "-c", mounts]) ? "full" : "network";
}

/** The widest folder around `path` that neither the system nor Node needs. */
function outermost(path: string): string {
  const parts = path.split("/").slice(1);
  const folders = parts.map((_, index) => `/${parts.slice(0, index + 1).join("/")}`);
  const node = realpathSync(process.execPath);
  const needed = [...SYSTEM, "/usr"];
  return folders.find((folder) => !needed.includes(folder) && !node.startsWith(`${folder}/`)) ?? "";
}

/** How a line on standard error begins that names a program left running. */
export const LEFTOVER = "lab: left running: ";

/**
 * Runs as the first process of the namespaces. The package is an overlay, so that what a server
 * writes beside its code is gone with it; the bridge can only be read; the folders in LAB_HIDDEN are
 * empty. The last lines on standard error name the programs that outlive the command.
 */
const SCRIPT = `
stage=/mnt
mount --make-rprivate / && mount -t tmpfs tmpfs $stage || exit 125
mkdir $stage/upper $stage/work $stage/package $stage/bridge && chown ${NOBODY}:${NOBODY} $stage/upper || exit 125
mount -t overlay overlay -o "lowerdir=$LAB_FOLDER,upperdir=$stage/upper,workdir=$stage/work" $stage/package 2>/dev/null ||
  mount --bind "$LAB_FOLDER" $stage/package || exit 125
if [ -d "$LAB_BRIDGE" ]; then
  mount --bind "$LAB_BRIDGE" $stage/bridge && mount -o remount,bind,ro $stage/bridge || exit 125
fi
IFS='
'
for folder in $LAB_HIDDEN; do mount -t tmpfs -o mode=755 tmpfs "$folder" || exit 125; done
mount -t tmpfs -o mode=1777 tmpfs "$LAB_TEMPORARY" || exit 125
mkdir -p "$LAB_FOLDER" && mount --move $stage/package "$LAB_FOLDER" || exit 125
if mountpoint -q $stage/bridge; then
  mkdir -p "$LAB_BRIDGE" && mount --move $stage/bridge "$LAB_BRIDGE" || exit 125
fi
umount -l $stage && cd "$LAB_HOME" || exit 125
"$@"
code=$?
for process in /proc/[0-9]*; do
  line=
  read -r line 2>/dev/null < $process/cmdline
  [ "$process" = /proc/1 ] || [ -z "$line" ] || echo "${LEFTOVER}$line" >&2
done
exit $code
`;

export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/**
 * The command that runs `inner` as nobody, without network, with an empty home and these variables
 * only. What the command does not need of this machine's files it does not see.
 */
export function isolated(
  inner: readonly string[],
  env: Readonly<Record<string, string>>,
  place: Place,
  isolation: Isolation,
): Command {
  emptyHome(place);
  chownSync(place.home, NOBODY, NOBODY);
  const variables = {
    PATH: [dirname(process.execPath), "/usr/bin", "/bin"].join(":"),
    HOME: place.home,
    ...env,
  };
  const powerless = [
    ...["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", "--no-new-privs"],
    ...["env", "-i", ...Object.entries(variables).map(([name, value]) => `${name}=${value}`)],
    ...inner,
  ];
  const temporary = realpathSync(tmpdir());
  const hidden = [outermost(PROJECT), outermost(homedir())].filter(
    (folder) => folder !== "" && folder !== temporary,
  );
  return {
    command: "unshare",
    args:
      isolation === "full"
        ? [...NAMESPACES, "--", "sh", "-c", SCRIPT, "lab", ...powerless]
        : ["--net", "--", ...powerless],
    env: {
      PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
      LAB_FOLDER: place.folder,
      LAB_BRIDGE: place.bridge,
      LAB_HOME: place.home,
      LAB_TEMPORARY: temporary,
      LAB_HIDDEN: [...new Set(hidden)].join("\n"),
    },
  };
}

/** Gives a folder to the user that servers run as: many write beside their own code. */
export function giveToNobody(folder: string): void {
  const { status, stderr } = spawnSync("chown", ["-R", "-h", `${NOBODY}:${NOBODY}`, folder]);
  if (status !== 0) throw new Error(`chown: ${stderr}`);
}
