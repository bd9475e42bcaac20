/** What a question tries. */
export const QUESTION_CLASSES = ['plain', 'temporal', 'contradicted', 'forgotten', 'placed', 'linked'] as const;

/** One of them. */
export type QuestionClass = (typeof QUESTION_CLASSES)[number];

/** A question about the conversation, written apart from the code that answers it. */
export interface Question {
  readonly of: QuestionClass;
  readonly text: string;
  /** What a person would answer; empty where nothing may be known any more. */
  readonly answer: string;
  /** The messages that say it; each that is among the first five counts. */
  readonly records: readonly string[];
  /** Messages that must not come before all of `records`, or, of a forgotten thing, not at all. */
  readonly not?: readonly string[];
  /** The day that the question is asked of. */
  readonly asOf?: string;
  /** Only what was said between these days. */
  readonly between?: readonly [from: string, to: string];
  /** Only what was said within so many metres. */
  readonly near?: { readonly lat: number; readonly lon: number; readonly radiusM: number };
}

type Extra = Pick<Question, 'not' | 'asOf' | 'between' | 'near'>;
const of =
  (kind: QuestionClass) =>
  (text: string, answer: string, records: string, extra: Extra = {}): Question => ({
    of: kind,
    text,
    answer,
    records: records === '' ? [] : records.split(' '),
    ...extra,
  });

const plain = of('plain');
const temporal = of('temporal');
const contradicted = of('contradicted');
const forgotten = of('forgotten');
const placed = of('placed');
const linked = of('linked');

const BERGEN = { lat: 60.39, lon: 5.325, radiusM: 5000 };
const TROMSO = { lat: 69.65, lon: 18.957, radiusM: 2500 };
const LISBON = { lat: 38.712, lon: -9.138, radiusM: 2000 };
const BELEM = { lat: 38.6916, lon: -9.216, radiusM: 1000 };
const PATH = { lat: 69.68, lon: 18.99, radiusM: 1500 };

/** A hundred questions. */
export const QUESTIONS: readonly Question[] = [
  plain('What is my name?', 'Mira Okafor', '1.1'),
  plain('What is my dog called?', 'Biscuit', '2.1'),
  plain('What is my dog afraid of?', 'umbrellas', '2.1'),
  plain('What does my sister do for a living?', 'She is a pastry cook in Lagos.', '3.1'),
  plain('On which day do I call my sister?', 'Sunday', '3.4'),
  plain('Who hates leaf blowers?', 'Jonas Wiik, my neighbour', '10.1'),
  plain('Which plank of the boat leaks?', 'the third on the left side', '9.2'),
  plain('Where is the office of my doctor?', 'on Strandgaten', '12.2'),
  plain('What did Halvorsen Optics give me as a farewell?', 'a magnifying glass', '13.4'),
  plain('Which instrument does Sunniva play?', 'the double bass', '14.2'),
  plain('Who is the vet that stitched the paw?', 'Dr. Marte Lie', '17.2'),
  plain('How much do I owe Jonas?', '600 kroner', '19.1'),
  plain('What is the name of the new spectrograph?', 'Heron', '20.1'),
  plain('How heavy is Heron?', '38 kilograms', '20.2'),
  plain('How many tomatoes do I have?', 'nine', '22.3'),
  plain('How much does a big accordion cost?', '90,000 kroner', '23.2'),
  plain('Who teaches me Portuguese?', 'Inês Duarte', '25.1'),
  plain('How long was the exposure of the comet?', '240 seconds through the red filter', '27.2'),
  plain('Who wears two watches?', 'Agnete Falk', '31.1'),
  plain('What did I pack for the journey?', 'sun hat, field notebook, two lenses', '33.1'),
  plain('Who found my notebook?', 'Rui Teixeira', '37.1'),
  plain('What is my phone number?', '+47 412 99 871', '38.1'),
  plain('Which films do I like?', 'those by Agnès Varda', '42.1'),
  plain('What is my email address?', 'mira@brightwater.example', '47.1'),
  plain('Where does my cat sleep?', 'in the box of the spectrograph', '41.2'),

  temporal('Where did I live in February?', 'Bergen', '1.1', { asOf: '2025-02-15' }),
  temporal('Where do I work?', 'Halvorsen Optics', '1.2', { asOf: '2025-02-20' }),
  temporal('Where do I live?', 'Tromsø', '13.1', { asOf: '2025-08-01' }),
  temporal('What is my favourite tea?', 'Lapsang Souchong', '6.1', { asOf: '2025-04-01' }),
  temporal('Where does Tomas work?', 'Nordlys Shipping', '3.2', { asOf: '2025-04-30' }),
  temporal('What am I allergic to?', 'walnuts, as was thought then', '4.1', { asOf: '2025-03-01' }),
  temporal('When is my flight to Lisbon?', 'on the 14th of June', '7.1', { asOf: '2025-03-01' }),
  temporal('How much rent do I pay?', '9,800 kroner', '45.1', { asOf: '2025-09-01' }),
  temporal('Who is the director of the observatory?', 'Agnete Falk', '31.1', { asOf: '2025-07-01' }),
  temporal('Do I own a boat?', 'yes, Kittiwake', '9.1', { asOf: '2025-04-01' }),
  temporal('What happened in June?', 'Lisbon, a lost notebook, fado', '34.1 35.1 36.1', { between: ['2025-06-10', '2025-06-25'] }),
  temporal('What did the dog do in March?', 'He hurt his left front paw on the ice.', '17.1', { between: ['2025-03-01', '2025-03-31'] }),
  temporal('What did I say about money in May?', 'the insurance and the price of the boat', '29.2 30.1', {
    between: ['2025-05-15', '2025-05-31'],
  }),
  temporal('Who did I meet in April?', 'the teacher Inês Duarte', '25.1', { between: ['2025-04-25', '2025-04-30'] }),
  temporal('What was broken in August?', 'the grating of Heron', '46.1', { between: ['2025-08-01', '2025-08-31'] }),
  temporal('Which pets did I get in July?', 'the cat Pixel', '41.1', { between: ['2025-07-01', '2025-07-31'] }),
  temporal('What did the airline do in March?', 'It changed the flight and gave a voucher.', '18.1 18.2', {
    between: ['2025-03-20', '2025-03-28'],
  }),
  temporal('What news of the family came in November?', 'Adaeze was born.', '50.1', { between: ['2025-11-01', '2025-11-30'] }),

  contradicted('Where do I live?', 'on Sommarøy', '49.1', { not: ['1.1', '13.1'] }),
  contradicted('Where do I work?', 'Brightwater Observatory', '13.2', { not: ['1.2'] }),
  contradicted('What am I allergic to?', 'hazelnuts', '16.1', { not: ['4.1'] }),
  contradicted('What is my favourite tea?', 'Genmaicha', '26.1', { not: ['6.1'] }),
  contradicted('When is my flight to Lisbon?', 'on the 16th of June', '18.1', { not: ['7.1'] }),
  contradicted('Where does Tomas work?', 'Havila Ferries', '28.1', { not: ['3.2'] }),
  contradicted('How much rent do I pay?', '10,400 kroner', '48.1', { not: ['45.1'] }),
  contradicted('Who is the director of the observatory?', 'Sunniva Aas', '44.1', { not: ['31.1'] }),
  contradicted('Who owns Kittiwake?', 'Jonas Wiik', '30.1', { not: ['9.1'] }),
  contradicted('Am I allergic to walnuts?', 'no', '16.1', { not: ['4.1'] }),
  contradicted('Which town did I move to?', 'Sommarøy', '49.1', { not: ['13.1'] }),
  contradicted('What is my job?', 'instrument maker', '13.2', { not: ['1.2'] }),
  contradicted('Do I still drink Lapsang Souchong?', 'no', '26.1', { not: ['6.1'] }),
  contradicted('Do I want to sell Kittiwake?', 'It is sold.', '30.1', { not: ['29.1'] }),
  contradicted('Has the flight to Lisbon changed?', 'yes, to the 16th', '18.1', { not: ['7.1'] }),
  contradicted('What happened with my rent?', 'It was raised to 10,400 kroner.', '48.1', { not: ['45.1'] }),

  forgotten('What is the code of the lab door?', '', '', { not: ['8.1'] }),
  forgotten('What is the door code 7741 for?', '', '', { not: ['8.1'] }),
  forgotten('What is my password for the weather station?', '', '', { not: ['21.1'] }),
  forgotten('Tell me the plover lantern password.', '', '', { not: ['21.1'] }),
  forgotten('Who is my therapist?', '', '', { not: ['40.1'] }),
  forgotten('When do I see Liv Moen?', '', '', { not: ['40.1'] }),
  forgotten('What happens on Thursdays?', '', '', { not: ['40.1'] }),
  forgotten('Which codes and passwords do you know?', '', '', { not: ['8.1', '21.1'] }),
  forgotten('Is there anything about a therapist called Liv?', '', '', { not: ['40.1'] }),

  placed('Where are the best cardamom buns around here?', 'Godt Brød', '5.1', { near: BERGEN }),
  placed('What does a day of climbing cost here?', '145 kroner', '11.2', { near: BERGEN }),
  placed('Which sport can I do here?', 'climbing', '11.1', { near: BERGEN }),
  placed('What did I eat near the harbour?', 'fish soup', '15.1', { near: TROMSO }),
  placed('Where did I leave my book?', 'in the telephone box library', '24.1', { near: TROMSO }),
  placed('What did the waiter say here?', 'The northern lights come at nine.', '15.2', { near: TROMSO }),
  placed('Where did I see a whale?', 'in the drawing of a child', '24.2', { near: TROMSO }),
  placed('Where did I see a whale?', 'the wall of the climbing hall', '11.1', { near: BERGEN }),
  placed('What is good to eat at this corner?', 'custard tarts', '34.1', { near: LISBON }),
  placed('Which music did I hear here?', 'fado by Beatriz', '36.1', { near: LISBON }),
  placed('Which music did I hear here?', 'a violin player with one song', '5.2', { near: BERGEN }),
  placed('What did I lose here?', 'the field notebook', '35.1', { near: BELEM }),
  placed('What grows along this path?', 'cloudberries', '43.1', { near: PATH }),
  placed('What should I keep from Jonas?', 'the cloudberries', '43.2 43.1', { near: PATH }),
  placed('What nearly took my hat here?', 'the tram number 28', '34.2', { near: LISBON }),
  placed('What was in the thing that I lost here?', 'drawings of Heron', '35.2', { near: BELEM }),

  linked('Where does the husband of my sister work?', 'Havila Ferries', '3.2 28.1'),
  linked('What is the name of the husband of the pastry cook?', 'Tomas Berg', '3.1 3.2'),
  linked('Who looked after my greyhound while I was in Portugal?', 'Sunniva', '33.2 2.1'),
  linked('What does the brother of my astronomer colleague build?', 'accordions', '14.1 23.1'),
  linked('Where does the brother of Sunniva live?', 'Bodø', '23.1'),
  linked('Where does my teacher live?', 'Porto', '25.1 25.2'),
  linked('What instrument does the new director play?', 'the double bass', '44.1 14.2'),
  linked('What was the price of the boat that I sold to my neighbour?', '31,000 kroner', '30.1 10.1'),
  linked('Who repairs the spectrograph?', 'Vanderlight', '46.2 46.1 20.1'),
  linked('What was in the notebook that Rui found?', 'drawings of Heron', '35.2 37.1'),
  linked('What does the man who found my notebook want?', 'a photo of the northern lights', '37.2 37.1'),
  linked('What is the name of my niece?', 'Adaeze', '50.1'),
  linked('Who is the landlord and what does he earn from me?', 'Odd Hagen, 10,400 kroner', '45.1 48.1'),
  linked('What can I not eat, and who told me?', 'hazelnuts, by Henrik Sand', '16.1 12.1'),
  linked('Where was the instrument built that has a broken grating?', 'in Utrecht', '20.2 46.1'),
  linked('Which pets live with me?', 'Biscuit and Pixel', '2.1 41.1'),
];
