/**
 * A listener that is loaded with the first request to a server: the adapter and Node's own Request and Response take
 * 11 MiB and the CPU of a third of a start, which a node without clients does not spend.
 */
import type { RequestListener } from "./requestListener.ts";

/**
 * Passes requests on to the listener that `load` returns. If `load` rejects, the error goes to `failed`, the requests that
 * wait are cut off, and the next request loads again.
 */
export function lazyListener(load: () => Promise<RequestListener>, failed: (thrown: unknown) => void): RequestListener {
  let loaded: RequestListener | undefined;
  let loading: Promise<RequestListener> | undefined;
  return (incoming, outgoing) => {
    if (loaded !== undefined) return loaded(incoming, outgoing);
    loading ??= load();
    loading
      .then((listener) => {
        loaded = listener;
        // A client that has gone meanwhile gets no answer.
        if (!incoming.destroyed) listener(incoming, outgoing);
      })
      .catch((thrown: unknown) => {
        if (loaded === undefined) loading = undefined;
        failed(thrown);
        outgoing.destroy();
      });
  };
}
