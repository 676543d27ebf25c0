/** The way between clients and the simulated API server: up, refusing connections, or losing every packet. */
import { BehaviorSubject, filter, type Observable } from "rxjs";

/** `refused`: every connection breaks at once. `silent`: nothing arrives, and nobody is told. */
export type NetworkState = "up" | "refused" | "silent";

export interface Network {
  readonly state: NetworkState;
  set(state: NetworkState): void;
  /** The state now, and each that follows. */
  readonly state$: Observable<NetworkState>;
  /** Emits each time connections break. */
  readonly refused$: Observable<unknown>;
  /** Emits each time packets flow again. */
  readonly up$: Observable<unknown>;
}

/** Makes a network that is up. */
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
