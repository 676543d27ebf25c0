/**
 * Sockets of the plugins of this node, and how a listing of them changes what is known.
 * Upstream: pkg/kubelet/pluginmanager/cache/desired_state_of_world.go.
 */

/** Largest number of sockets that the kubelet follows. Each costs a connection while its plugin registers. */
export const MAX_PLUGIN_SOCKETS = 256;

/** A socket in the directory of plugins. */
export interface PluginSocket {
  readonly path: string;
  /** Differs once another socket has taken the path: a plugin that started again. */
  readonly identity: string;
}

/** Sockets found by one walk through the directory. */
export interface PluginListing {
  readonly sockets: readonly PluginSocket[];
  /** Directories that could not be read, or not completely: their sockets may still exist. */
  readonly unread: readonly string[];
}

/** The known sockets, by path. */
export type KnownSockets = ReadonlyMap<string, PluginSocket>;

/** A path whose socket appeared, was replaced, or is gone. */
export interface SocketChange {
  readonly path: string;
  readonly socket: PluginSocket | undefined;
}

/** The known sockets after a listing. */
export interface FollowedSockets {
  readonly known: KnownSockets;
  readonly changes: readonly SocketChange[];
  /** Sockets that are not followed because there are too many. */
  readonly ignored: number;
}

/** State before the first listing. */
export const NO_SOCKETS: FollowedSockets = { known: new Map(), changes: [], ignored: 0 };

/** Returns whether plugins leave this name of a file or directory to themselves. */
export const isHiddenName = (name: string): boolean => name.startsWith(".");

/**
 * Returns the known sockets after a listing, with the changes: removals first. A known socket keeps its place when there are too
 * many, so that new sockets cannot displace a registered plugin.
 */
export function followSockets(
  { known }: FollowedSockets,
  { sockets, unread }: PluginListing,
  max = MAX_PLUGIN_SOCKETS,
): FollowedSockets {
  const listed = new Map(sockets.map((socket) => [socket.path, socket]));
  const mayExist = (path: string): boolean => unread.some((directory) => path.startsWith(`${directory}/`));
  const next = new Map([...known].filter(([path]) => listed.has(path) || mayExist(path)));
  const removals = [...known.keys()].filter((path) => !next.has(path));
  const changes: SocketChange[] = removals.map((path) => ({ path, socket: undefined }));
  let ignored = 0;
  for (const [path, socket] of listed) {
    const before = next.get(path);
    if (before?.identity === socket.identity) continue;
    if (before === undefined && next.size >= max) {
      ignored += 1;
      continue;
    }
    next.set(path, socket);
    changes.push({ path, socket });
  }
  return { known: next, changes, ignored };
}
