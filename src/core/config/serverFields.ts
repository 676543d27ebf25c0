/** Field table, part one: pod sources, and the HTTP server with its authentication and debugging. */
import { type ConfigField, type FieldRule, field, minutes, notNegative, oneOf, seconds, hours } from "./configField.ts";
import type { ConfigPath } from "./kubeletConfiguration.ts";
import { TLS_CIPHER_SUITES, TLS_VERSIONS } from "./tlsNames.ts";

const port: FieldRule = { kind: "port", zero: false };
const portOrOff: FieldRule = { kind: "port", zero: true };
const ip: FieldRule = { kind: "ip" };

/** Rows of pod sources and server. */
export const SERVER_FIELDS = {
  enableServer: field("bool?", true, "Run the kubelet's HTTPS server", { flag: "enable-server", effective: true }),
  staticPodPath: field("string", undefined, "Directory (or file) of static pod manifests; dot files are ignored", {
    flag: "pod-manifest-path",
    effective: true,
  }),
  syncFrequency: field("duration", minutes(1), "Longest time between two syncs of a running pod", {
    flag: "sync-frequency",
    effective: true,
  }),
  fileCheckFrequency: field("duration", seconds(20), "Period of rereading the manifest directory", {
    flag: "file-check-frequency",
    effective: true,
  }),
  httpCheckFrequency: field("duration", seconds(20), "Period of fetching the manifest URL", {
    flag: "http-check-frequency",
    effective: true,
  }),
  staticPodURL: field("string", undefined, "URL that serves further static pods", {
    flag: "manifest-url",
    effective: true,
  }),
  staticPodURLHeader: field("map[string][]string", undefined, "HTTP headers sent to the manifest URL", {
    flag: "manifest-url-header",
    effective: true,
  }),
  address: field("string", "0.0.0.0", "IP address the servers listen on", {
    flag: "address",
    rule: ip,
    effective: true,
  }),
  port: field("int32", 10250, "Port of the HTTPS server", { flag: "port", rule: port, effective: true }),
  readOnlyPort: field("int32", undefined, "Port of the server without authentication; 0 turns it off", {
    flag: "read-only-port",
    rule: portOrOff,
    effective: true,
  }),
  tlsCertFile: field("string", undefined, "Serving certificate, with intermediates after it", {
    flag: "tls-cert-file",
    effective: true,
  }),
  tlsPrivateKeyFile: field("string", undefined, "Private key of the serving certificate", {
    flag: "tls-private-key-file",
    effective: true,
  }),
  tlsCipherSuites: field("[]string", undefined, "Cipher suites the server may use, by Go's names", {
    flag: "tls-cipher-suites",
    effective: true,
    rule: { kind: "eachOneOf", values: TLS_CIPHER_SUITES },
  }),
  tlsCurvePreferences: field("[]int32", undefined, "Key exchange groups the server may use, by IANA number", {
    effective: true,
  }),
  tlsMinVersion: field("string", undefined, "Oldest TLS version the server accepts, VersionTLS10 to VersionTLS13", {
    flag: "tls-min-version",
    effective: true,
    rule: { kind: "oneOf", values: TLS_VERSIONS, allowEmpty: true },
  }),
  rotateCertificates: field("bool", undefined, "Renew the client certificate before it expires", {
    flag: "rotate-certificates",
    effective: true,
  }),
  serverTLSBootstrap: field("bool", undefined, "Request serving certificates from the API server and renew them", {
    flag: "rotate-server-certificates",
    effective: true,
  }),
  authentication: field("object", undefined, "Authentication of requests to the server"),
  "authentication.x509": field("object", undefined, "Client certificates"),
  "authentication.x509.clientCAFile": field("string", undefined, "Authorities whose client certificates are trusted", {
    flag: "client-ca-file",
    effective: true,
  }),
  "authentication.webhook": field("object", undefined, "Bearer tokens, checked with TokenReview"),
  "authentication.webhook.enabled": field("bool?", true, "Check bearer tokens with the TokenReview API", {
    flag: "authentication-token-webhook",
    effective: true,
  }),
  "authentication.webhook.cacheTTL": field("duration", minutes(2), "How long the answer to a TokenReview is cached", {
    flag: "authentication-token-webhook-cache-ttl",
    effective: true,
  }),
  "authentication.anonymous": field("object", undefined, "Requests without credentials"),
  "authentication.anonymous.enabled": field("bool?", false, "Accept requests without credentials as system:anonymous", {
    flag: "anonymous-auth",
    effective: true,
  }),
  authorization: field("object", undefined, "Authorization of requests to the server"),
  "authorization.mode": field("string", "Webhook", "AlwaysAllow, or Webhook to use SubjectAccessReview", {
    flag: "authorization-mode",
    effective: true,
    rule: oneOf("AlwaysAllow", "Webhook"),
  }),
  "authorization.webhook": field("object", undefined, "Caching of SubjectAccessReview answers"),
  "authorization.webhook.cacheAuthorizedTTL": field(
    "duration",
    minutes(5),
    "How long a positive answer of the webhook is cached",
    {
      flag: "authorization-webhook-cache-authorized-ttl",
      effective: true,
    },
  ),
  "authorization.webhook.cacheUnauthorizedTTL": field(
    "duration",
    seconds(30),
    "How long a negative answer of the webhook is cached",
    {
      flag: "authorization-webhook-cache-unauthorized-ttl",
      effective: true,
    },
  ),
  enableDebuggingHandlers: field("bool?", true, "Serve logs, exec, attach, port-forward and similar endpoints", {
    flag: "enable-debugging-handlers",
    effective: true,
  }),
  enableContentionProfiling: field("bool", undefined, "Profile lock contention when profiling is on", {
    flag: "contention-profiling",
    idle: "it profiles locks of Go's runtime, and the event loop of Node.js has none",
  }),
  enableProfilingHandler: field("bool?", true, "Serve /debug/pprof", { effective: true }),
  enableDebugFlagsHandler: field("bool?", true, "Serve /debug/flags/v", { effective: true }),
  enableSystemLogHandler: field("bool?", true, "Serve the node's log files under /logs/", { effective: true }),
  enableSystemLogQuery: field("bool?", undefined, "Answer queries of the system log under /logs/", {
    effective: true,
  }),
  healthzPort: field("int32?", 10248, "Port of /healthz; 0 turns it off", {
    flag: "healthz-port",
    rule: portOrOff,
    effective: true,
  }),
  healthzBindAddress: field("string", "127.0.0.1", "IP address /healthz listens on", {
    flag: "healthz-bind-address",
    rule: ip,
    effective: true,
  }),
  streamingConnectionIdleTimeout: field(
    "duration",
    hours(4),
    "Idle time after which exec and similar streams are closed",
    {
      flag: "streaming-connection-idle-timeout",
      effective: true,
    },
  ),
  eventRecordQPS: field("int32?", 50, "Events recorded per second; 0 means no limit", {
    flag: "event-qps",
    rule: notNegative,
    effective: true,
  }),
  eventBurst: field("int32", 100, "Events that may be recorded at once", {
    flag: "event-burst",
    rule: notNegative,
    effective: true,
  }),
} as const satisfies Partial<Record<ConfigPath, ConfigField>>;
