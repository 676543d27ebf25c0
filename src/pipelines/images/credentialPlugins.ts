/**
 * Asks credential plugins for the credentials of an image, and caches each response for the time it states. Bounds:
 * one run at a time per plugin and request, of a minute at most; MAX_KEPT responses per plugin. Upstream:
 * pkg/credentialprovider/plugin.
 */
import { catchError, combineLatest, defer, finalize, map, type Observable, of, switchMap, throwError } from "rxjs";
import type { Pod } from "../../core/api.ts";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import {
  keepKey,
  lookUpKeys,
  type PluginAccount,
  pluginAnnotations,
  pluginRequest,
  type PluginResponse,
  readPluginResponse,
  repeatsToken,
} from "../../core/image/credentialPlugin.ts";
import type { CredentialProvider, TokenAttributes } from "../../core/image/credentialProviderConfig.ts";
import { type RegistryCredentials, withSource } from "../../core/image/dockerConfig.ts";
import { isAtPlace } from "../../core/image/keyring.ts";
import type { MonotonicMs } from "../../core/ids.ts";
import { isStaticPod } from "../../core/pod/criticalPod.ts";
import { deadline } from "../../operators/deadline.ts";
import { shareByKey } from "../../operators/shareByKey.ts";
import type { ApiServer } from "../../ports/apiServer.ts";
import type { CredentialPlugins } from "../../ports/credentials.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { Tokens } from "../projections/tokens.ts";

export interface CredentialPluginsDeps {
  readonly providers: readonly CredentialProvider[];
  readonly ports: Pick<KubeletPorts, "clock" | "telemetry" | "credentialPlugins"> & {
    /** The reader of service accounts. */
    readonly api: { readonly objects: Pick<ApiServer, "get"> } | undefined;
  };
  /** Absent on a standalone node. */
  readonly tokens: Tokens | undefined;
}

/**
 * Returns the answers of the plugins that match the image, in their order; `image` has no tag or digest. Never errors.
 */
export type AskPlugins = (pod: Pod, image: string) => Observable<readonly RegistryCredentials[]>;

const RUN_MS = 60_000;
const MAX_KEPT = 1000;
/** Token lifetime that an API server grants by default. */
const TOKEN_SECONDS = 3600;
const NOTHING: RegistryCredentials = new Map();

/** Creates the function that asks the plugins. A plugin runs only for an image that it matches. */
export function createCredentialPlugins(deps: CredentialPluginsDeps): AskPlugins {
  const { credentialPlugins: plugins } = deps.ports;
  if (plugins === undefined) return () => of([]);
  const asks = deps.providers.map((provider) => {
    const ask = askPlugin(provider, { ...deps, plugins });
    return { isFor: (image: string) => provider.matchImages.some((place) => isAtPlace(place, image)), ask };
  });
  return (pod, image) => {
    const wanted = asks.filter(({ isFor }) => isFor(image));
    return wanted.length === 0 ? of([]) : combineLatest(wanted.map(({ ask }) => ask(pod, image)));
  };
}

interface Running extends CredentialPluginsDeps {
  readonly plugins: CredentialPlugins;
}

function askPlugin(provider: CredentialProvider, deps: Running) {
  const kept = keptAnswers(deps.ports);
  const runs = shareByKey<string, PluginResponse>({ start: (request) => runPlugin(provider, request, deps) });
  return (pod: Pod, image: string): Observable<RegistryCredentials> =>
    defer(() => accountFor(provider.tokenAttributes, pod, deps)).pipe(
      switchMap((account) => {
        if (account === "notAsked") return of(NOTHING);
        const known = kept.find(lookUpKeys(provider, image, account));
        if (known !== undefined) return of(ofAccount(known, account));
        return runs.join(pluginRequest(provider, image, account)).pipe(
          map((response) => {
            refuseRepeatedToken(provider, response, account);
            const { cacheMs = provider.defaultCacheMs, credentials } = response;
            if (cacheMs > 0) kept.keep(keepKey(provider, response, image, account), credentials, cacheMs);
            return ofAccount(credentials, account);
          }),
        );
      }),
      catchError((thrown: unknown) => {
        const { namespace, name } = pod.metadata;
        const fields = { plugin: provider.name, image, pod: `${namespace}/${name}`, error: toKubeletError(thrown) };
        deps.ports.telemetry.log.error("Failed getting credential from external registry credential provider", fields);
        return of(NOTHING);
      }),
    );
}

const ofAccount = (credentials: RegistryCredentials, account: PluginAccount | undefined): RegistryCredentials => {
  if (account === undefined) return credentials;
  const { uid, namespace, name } = account;
  return withSource(credentials, { kind: "ServiceAccount", uid, namespace, name });
};

function refuseRepeatedToken(
  { tokenAttributes }: CredentialProvider,
  response: PluginResponse,
  account: PluginAccount | undefined,
): void {
  if (account === undefined || tokenAttributes?.cacheType === "Token" || !repeatsToken(response, account)) return;
  throw kubeletError(
    "InvalidArgument",
    "the plugin returned the service account token as the password, which needs cacheType Token",
  );
}

function runPlugin(
  provider: CredentialProvider,
  request: string,
  { plugins, ports: { clock, telemetry } }: Running,
): Observable<PluginResponse> {
  const labels = { plugin_name: provider.name };
  return defer(() => {
    const startedAt = clock.monotonicMs();
    return plugins.run(provider, request).pipe(
      deadline(RUN_MS, clock, () => kubeletError("DeadlineExceeded", `no answer within ${RUN_MS / 1000} s`)),
      catchError((thrown: unknown) => {
        telemetry.metrics.count("kubelet_credential_provider_plugin_errors_total", labels);
        const error = toKubeletError(thrown);
        const what = `error execing credential provider plugin ${provider.name}`;
        return throwError(() => ({ ...error, message: `${what}: ${error.message}` }));
      }),
      finalize(() => {
        const tookMs = clock.monotonicMs() - startedAt;
        telemetry.metrics.observe("kubelet_credential_provider_plugin_duration", tookMs / 1000, labels);
      }),
      map((printed) => {
        const read = readPluginResponse(provider, printed);
        if (!read.ok) throw read.error;
        return read.value;
      }),
    );
  });
}

/** undefined: the plugin is asked without one. */
function accountFor(
  attributes: TokenAttributes | undefined,
  pod: Pod,
  { tokens, ports: { api, telemetry } }: CredentialPluginsDeps,
): Observable<PluginAccount | "notAsked" | undefined> {
  if (attributes === undefined) return of(undefined);
  const { namespace, name: podName, uid: podUid } = pod.metadata;
  const name = pod.spec.serviceAccountName ?? "";
  if (name === "" || isStaticPod(pod)) return of(attributes.requireServiceAccount ? "notAsked" : undefined);
  if (api === undefined || tokens === undefined) {
    return throwError(() => kubeletError("Unavailable", "there is no API server to ask for service accounts"));
  }
  return api.objects.get("serviceaccounts", { namespace, name }).pipe(
    switchMap(({ metadata }) => {
      const annotations = pluginAnnotations(attributes, metadata?.annotations);
      if (annotations === undefined) {
        const fields = { serviceAccount: `${namespace}/${name}`, wanted: attributes.requiredAnnotations };
        telemetry.log.debug(
          "credentialPlugins",
          "A service account lacks an annotation its credential plugin requires",
          fields,
        );
        return of("notAsked" as const);
      }
      const wish = {
        namespace,
        serviceAccount: name,
        audiences: [attributes.audience],
        expirationSeconds: TOKEN_SECONDS,
        pod: { name: podName, uid: podUid },
      };
      return tokens.get(wish).pipe(
        map((issued) => {
          if (!issued.ok) throw issued.error;
          return { namespace, name, uid: metadata?.uid ?? "", annotations, token: issued.value.token };
        }),
      );
    }),
  );
}

interface Kept {
  readonly credentials: RegistryCredentials;
  readonly until: MonotonicMs;
}

/** Creates the cache of one plugin: responses until they expire; beyond MAX_KEPT the oldest is dropped. */
function keptAnswers({ clock }: Pick<KubeletPorts, "clock">) {
  const kept = new Map<string, Kept>();
  const dropExpired = (): void => {
    const now = clock.monotonicMs();
    for (const [key, { until }] of kept) if (now > until) kept.delete(key);
  };
  return {
    find(keys: readonly string[]): RegistryCredentials | undefined {
      dropExpired();
      const found = keys.find((key) => kept.has(key));
      return found === undefined ? undefined : kept.get(found)?.credentials;
    },
    keep(key: string, credentials: RegistryCredentials, ms: number): void {
      kept.delete(key);
      const [oldest] = kept.keys();
      if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest);
      kept.set(key, { credentials, until: (clock.monotonicMs() + ms) as MonotonicMs });
    },
  };
}
