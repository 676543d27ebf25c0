/** Device plugins: the kubelet's registration service, and the service of each plugin. */
import type { Observable } from "rxjs";
import type {
  AllocateResponse,
  DevicePluginOptions,
  ListAndWatchResponse,
  PreferredAllocationResponse,
  RegisterRequest,
} from "../gen/devicePlugin.ts";
import type { Call } from "./call.ts";

/** An item of the registration service. */
export type DeviceRegistration =
  /** The service accepts plugins. */
  { readonly kind: "serving" } | ({ readonly kind: "registered" } & RegisteredDevicePlugin);

/** A plugin that has registered for a resource. */
export interface RegisteredDevicePlugin {
  readonly resource: string;
  readonly socket: string;
  /** The answer to GetDevicePluginOptions, if the plugin was asked. */
  readonly options?: DevicePluginOptions;
  /** A plugin inside the kubelet. */
  readonly isBuiltIn?: boolean;
}

/** A choice that a plugin is asked for. */
export interface PreferredRequest {
  readonly available: readonly string[];
  readonly mustInclude: readonly string[];
  readonly size: number;
}

/** Every call has a connection and a deadline of its own; `socket` is the path of the plugin's socket. */
export interface DevicePlugins {
  /** Resources that plugins inside the kubelet may offer. */
  readonly builtIn?: ReadonlySet<string>;
  /**
   * Serves registrations while subscribed. `refusalOf` returns why one is refused, for the plugin. Errors with a
   * KubeletError when the service ends; callers may resubscribe.
   */
  serve(refusalOf: (request: RegisterRequest) => string | undefined): Observable<DeviceRegistration>;
  options(socket: string): Call<DevicePluginOptions>;
  /** Completes or errors when the plugin ends the stream. */
  listAndWatch(socket: string): Observable<ListAndWatchResponse>;
  preferred(socket: string, request: PreferredRequest): Call<PreferredAllocationResponse>;
  allocate(socket: string, ids: readonly string[]): Call<AllocateResponse>;
  preStart(socket: string, ids: readonly string[]): Call<unknown>;
}
