/** The network between clients and the simulated API server: up, refusing connections, or losing every packet. */
import { BehaviorSubject, filter, type Observable } from "rxjs";

/** `refused`: every connection breaks at once. `silent`: packets are lost without an error. */
export type NetworkState = "up" | "refused" | "silent";

export interface Network {
  readonly state: NetworkState;
  set(state: NetworkState): void;
  /** Emits the state at once, and each new one. */
  readonly state$: Observable<NetworkState>;
  /** Emits each time connections break. */
  readonly refused$: Observable<unknown>;
  /** Emits each time packets flow again. */
  readonly up$: Observable<unknown>;
}

/** Creates a network that is up. */
export function createNetwork(): Network {
  const states = new BehaviorSubject<NetworkState>("up");
  return {
    get state() {
      return states.value;
    },
    set: (state) => {
      if (state !== states.value) states.next(state);
    },
    state$: states.asObservable(),
    refused$: states.pipe(filter((state) => state === "refused")),
    up$: states.pipe(filter((state) => state === "up")),
  };
}
