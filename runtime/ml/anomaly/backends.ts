/** What clients are told about a backend. */
interface BackendCard {
  readonly backend: string;
  readonly name: string;
  readonly description: string;
  readonly category: 'legacy' | 'fast' | 'distance' | 'clustering' | 'ensemble' | 'streaming' | 'deep_learning';
  readonly speed: 'very_fast' | 'fast' | 'medium' | 'slow';
  readonly memory: 'low' | 'medium' | 'high';
  readonly parameters: readonly string[];
  readonly best_for: string;
  /** Whether the first version of the reference system had it. */
  readonly is_legacy: boolean;
}

/** The backends in the order of their categories, then of their ids; native code has a detector for each. */
export const BACKENDS = [
  {
    backend: 'isolation_forest',
    name: 'Isolation Forest',
    description: 'Counts how few random cuts it takes to set a row apart from a sample of the others.',
    category: 'legacy',
    speed: 'fast',
    memory: 'medium',
    parameters: ['n_estimators', 'max_samples', 'contamination'],
    best_for: 'A first try on tables of any width, with no assumption about their shape.',
    is_legacy: true,
  },
  {
    backend: 'local_outlier_factor',
    name: 'Local Outlier Factor',
    description: 'Compares the density around a row with that around its nearest neighbours.',
    category: 'legacy',
    speed: 'medium',
    memory: 'high',
    parameters: ['n_neighbors', 'contamination'],
    best_for: 'Clusters of unequal density, where a row is odd only beside its neighbours.',
    is_legacy: true,
  },
  {
    backend: 'one_class_svm',
    name: 'One-Class SVM',
    description: 'Draws a smooth boundary around most rows and measures how far outside of it a row lies.',
    category: 'legacy',
    speed: 'slow',
    memory: 'high',
    parameters: ['kernel', 'nu', 'gamma'],
    best_for: 'Some thousand rows, clean ones above all, with curved boundaries.',
    is_legacy: true,
  },
  {
    backend: 'copod',
    name: 'COPOD',
    description: 'Adds up how far in a tail each column of a row lies, by the ranks of the fitted rows; nothing to tune.',
    category: 'fast',
    speed: 'fast',
    memory: 'low',
    parameters: ['contamination'],
    best_for: 'Wide tables whose extremes lie on the side of the longer tail.',
    is_legacy: false,
  },
  {
    backend: 'ecod',
    name: 'ECOD',
    description: 'Adds up how rare the value of each column is in the lower or upper tail of the fitted rows; nothing to tune.',
    category: 'fast',
    speed: 'fast',
    memory: 'low',
    parameters: ['contamination'],
    best_for: 'Wide tables and explanations: each column has its share of the score.',
    is_legacy: false,
  },
  {
    backend: 'hbos',
    name: 'HBOS',
    description: 'Multiplies how rare the histogram bin of each column is, as if columns were independent.',
    category: 'fast',
    speed: 'very_fast',
    memory: 'low',
    parameters: ['n_bins', 'contamination'],
    best_for: 'Very many rows, where columns say something on their own.',
    is_legacy: false,
  },
  {
    backend: 'knn',
    name: 'KNN',
    description: 'Takes the distance to the fifth nearest of the fitted rows.',
    category: 'distance',
    speed: 'medium',
    memory: 'high',
    parameters: ['n_neighbors', 'method', 'contamination'],
    best_for: 'Few columns of comparable meaning, where far away means odd.',
    is_legacy: false,
  },
  {
    backend: 'mcd',
    name: 'MCD',
    description: 'Fits an ellipse to the most compact half of the rows and measures the distance in its terms.',
    category: 'distance',
    speed: 'medium',
    memory: 'medium',
    parameters: ['contamination'],
    best_for: 'One cloud of correlated columns, with outliers among the fitted rows.',
    is_legacy: false,
  },
  {
    backend: 'cblof',
    name: 'CBLOF',
    description: 'Forms clusters and takes the distance to the nearest large one.',
    category: 'clustering',
    speed: 'medium',
    memory: 'medium',
    parameters: ['n_clusters', 'contamination'],
    best_for: 'Several groups of ordinary rows, and odd ones in small groups.',
    is_legacy: false,
  },
  {
    backend: 'suod',
    name: 'SUOD',
    description: 'Averages Isolation Forest, HBOS and COPOD, each in its own standard deviations.',
    category: 'ensemble',
    speed: 'slow',
    memory: 'high',
    parameters: ['base_estimators', 'contamination'],
    best_for: 'Steady scores where no single method is known to fit.',
    is_legacy: false,
  },
  {
    backend: 'loda',
    name: 'LODA',
    description: 'Averages how rare a row is in the histograms of a hundred sparse random projections.',
    category: 'streaming',
    speed: 'fast',
    memory: 'low',
    parameters: ['n_bins', 'n_random_cuts', 'contamination'],
    best_for: 'Streams and many columns, in little memory.',
    is_legacy: false,
  },
  {
    backend: 'autoencoder',
    name: 'AutoEncoder',
    description: 'Learns to rebuild rows through a narrow layer and measures what it fails to rebuild.',
    category: 'deep_learning',
    speed: 'slow',
    memory: 'high',
    parameters: ['hidden_neurons', 'epochs', 'batch_size', 'contamination'],
    best_for: 'Many rows whose columns depend on each other in ways that are not straight lines.',
    is_legacy: true,
  },
] as const satisfies readonly BackendCard[];

/** A backend's id. */
export type AnomalyBackend = (typeof BACKENDS)[number]['backend'];
