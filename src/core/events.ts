/** Kubernetes events as the kubelet records them. Reasons: see docs/operations.md. */
export interface KubeletEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  readonly object: EventObject;
  /** Details for programs; only the API server gets them. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The involved object of an event. */
export interface EventObject {
  readonly kind: "Pod" | "Node" | "PersistentVolumeClaim";
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Resource version of the involved object; absent when the object is not in the API server. */
  readonly resourceVersion?: string;
  /** `spec.containers{name}` for events of one container; empty for the whole object. */
  readonly fieldPath: string;
}
