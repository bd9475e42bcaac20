/** What a component of the daemon says about itself for `/health`. */
export interface Health {
  readonly status: 'healthy' | 'degraded' | 'unhealthy';
  readonly message: string;
}
