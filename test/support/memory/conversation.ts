/**
 * A year of talks between one person and an assistant, written before the code that remembers them: 50 parts with their days and some places.
 * A part begins with `# day time [latitude,longitude]`; `u:` is the person, `a:` the assistant, `forget:` names messages that the person
 * has had removed after the part. `questions.ts` asks about it.
 */
const TEXT = `
# 2025-01-06 19:10
u: Hello. My name is Mira Okafor and I live in Bergen.
u: I work at Halvorsen Optics as a lens grinder.
a: Nice to meet you, Mira. What does a lens grinder do all day?
u: Mostly I listen to glass. You hear a scratch before you see it.
# 2025-01-09 07:45
u: I have a greyhound called Biscuit. He is afraid of umbrellas.
u: Does it make sense to walk a dog at six in the morning in the rain?
a: If the dog wants to, yes. Many greyhounds prefer a coat.
# 2025-01-13 20:02
u: My sister Ife is a pastry cook in Lagos.
u: Ife is married to Tomas Berg, and Tomas works at Nordlys Shipping.
a: That is a long way between Lagos and Bergen.
u: We call every Sunday. She talks with her hands, so half of it is off the screen.
# 2025-01-17 12:30
u: I am allergic to walnuts, so please never suggest recipes with them.
u: What can I bake for a birthday at work with almonds instead?
a: A financier, or an almond cake with orange.
# 2025-01-21 18:20 60.3971,5.3245
u: I found a bakery called Godt Brød here. The cardamom buns are perfect.
u: There was a violin player outside who only knew one song.
# 2025-01-26 10:00
u: My favourite tea is Lapsang Souchong.
u: A friend says it tastes like a campfire. She is right, and that is why.
a: Smoked over pine wood, indeed.
# 2025-02-01 21:15
u: I booked a flight to Lisbon for the 14th of June.
u: The ticket cost 2,190 kroner.
a: Lisbon in June is warm. Take something light.
# 2025-02-05 08:00
u: Our lab door code is 7741, can you keep that?
u: And remind me that the grinder needs new felt on Friday.
forget: 8.1
# 2025-02-09 17:40
u: My boat is called Kittiwake. It is an old wooden sloop.
u: Kittiwake leaks at the third plank on the left side.
a: Oakum and patience, then.
# 2025-02-14 20:30
u: Jonas Wiik is my neighbour. He hates leaf blowers more than anything.
u: He once returned one to the shop that was not even his.
# 2025-02-19 13:05 60.3880,5.3310
u: The climbing hall here has a wall shaped like a whale.
u: The day pass costs 145 kroner and shoes are extra.
# 2025-02-24 19:00
u: My doctor is called Henrik Sand. His office is on Strandgaten.
u: He says I should drink less coffee. I drink no coffee at all, only tea.
a: Then you already follow his advice.
# 2025-03-02 18:50
u: Big news: I moved to Tromsø yesterday.
u: I now work at Brightwater Observatory as an instrument maker.
a: Congratulations! From lenses to telescopes.
u: Halvorsen Optics gave me a magnifying glass as a farewell.
# 2025-03-06 22:10
u: My colleague Sunniva Aas is an astronomer. She sleeps until noon.
u: Sunniva comes from Bodø and plays the double bass.
# 2025-03-10 16:00 69.6492,18.9553
u: I tried the fish soup at the harbour café here. It needs no salt at all.
u: The waiter said the northern lights come at nine, as if it were a bus.
# 2025-03-15 11:25
u: The doctor tested me again: I am not allergic to walnuts, I am allergic to hazelnuts.
u: All these years without walnut bread for nothing.
a: I will keep hazelnuts out of the recipes.
# 2025-03-20 20:00
u: Biscuit hurt his left front paw on the ice.
u: The vet, Dr. Marte Lie, put in two stitches.
a: Poor Biscuit. Keep the bandage dry.
# 2025-03-25 19:30
u: My flight to Lisbon was changed to the 16th of June.
u: The airline apologised with a voucher for a sandwich.
# 2025-03-30 10:10
u: I owe Jonas 600 kroner for the moving van.
u: He says I may pay in cinnamon rolls.
# 2025-04-04 21:45
u: The new spectrograph at work is called Heron.
u: Heron weighs 38 kilograms and was built in Utrecht.
a: A heavy bird.
# 2025-04-09 18:15
u: My password for the weather station is plover-lantern-12.
u: On second thought please do not keep that.
forget: 21.1
# 2025-04-14 09:00
u: Do you think it will snow for Easter?
a: In Tromsø it often does.
u: Then I will put the tomatoes inside. All nine of them.
# 2025-04-18 20:20
u: Sunniva's brother Eirik builds accordions in Bodø.
u: Eirik charges 90,000 kroner for a big one and waits two years for the wood.
# 2025-04-23 17:55 69.6530,18.9610
u: There is a tiny library in this old telephone box. I left my Tove Jansson book there.
u: A child had left a drawing of a whale.
# 2025-04-28 19:05
u: I started to learn Portuguese with a teacher called Inês Duarte.
u: Inês lives in Porto and laughs at my vowels.
a: Vowels are the hard part in Portuguese.
# 2025-05-03 12:00
u: I do not drink Lapsang Souchong any more. My favourite tea is Genmaicha now.
u: Toasted rice in tea. It smells like a kitchen that likes you.
# 2025-05-08 22:30
u: We saw a comet tonight and Sunniva cried a little.
u: The exposure was 240 seconds through the red filter.
# 2025-05-13 18:40
u: Tomas lost his job at Nordlys Shipping. Tomas works at Havila Ferries now.
u: Ife says he looks ten years younger.
# 2025-05-18 14:00
u: I am thinking about selling Kittiwake.
u: The insurance alone is 5,400 kroner a year.
a: You could rent it out over the summer.
# 2025-05-23 20:15
u: I sold Kittiwake to Jonas Wiik for 31,000 kroner.
u: He promised to fix the third plank. I give it a month.
# 2025-05-28 08:20
u: The observatory director is called Agnete Falk. She wears two watches.
u: One of them shows sidereal time. She is late by both.
# 2025-06-02 19:45
u: Please water reminder: nine tomatoes, every second evening.
a: Nine tomatoes, every second evening.
u: You are a good gardener for someone without hands.
# 2025-06-08 21:00
u: I packed for Lisbon: sun hat, field notebook, two lenses.
u: Biscuit stays with Sunniva while I am away.
# 2025-06-17 13:30 38.7139,-9.1394
u: I am in Lisbon. The custard tarts at this corner café are the best I ever had.
u: The tram number 28 nearly took my sun hat.
# 2025-06-18 18:10 38.6916,-9.2160
u: I lost my field notebook here by the tower of Belém.
u: It had all the drawings of Heron. I could cry.
# 2025-06-21 20:00 38.7110,-9.1370
u: A fado singer called Beatriz sang in this cellar. I understood four words.
u: One of them was sea.
# 2025-06-26 19:00
u: A stranger called Rui Teixeira found my notebook and will send it to Tromsø.
u: Rui wants no money, only a photo of the northern lights.
# 2025-07-03 17:20
u: My new phone number is +47 412 99 871.
u: My old one ended with 204 and nobody ever called it.
# 2025-07-08 09:40
u: Ife is pregnant! The baby is due in December.
u: She wants to call the baby Adaeze if it is a girl.
a: Wonderful news. Will you travel to Lagos?
# 2025-07-14 22:00
u: My therapist is called Liv Moen and I see her on Thursdays.
u: Please forget what I said about the therapist.
forget: 40.1
# 2025-07-20 11:00
u: I adopted a cat called Pixel. Biscuit pretends that she is furniture.
u: Pixel sleeps in the box that the spectrograph came in.
# 2025-07-27 19:30
u: I like films by Agnès Varda, and I hate musicals.
u: Sunniva likes musicals. We no longer go to the cinema together.
# 2025-08-03 18:00 69.6800,18.9900
u: Cloudberries grow all along the path up here behind the second bridge.
u: I will not tell Jonas, he would bring a bucket.
# 2025-08-10 20:45
u: Agnete Falk leaves the observatory in September. Sunniva Aas becomes the director.
u: The first director who plays the double bass, I believe.
# 2025-08-19 07:30
u: I pay 9,800 kroner rent a month to my landlord, Odd Hagen.
u: The heating is included, the silence is not.
# 2025-08-28 21:10
u: Heron has a broken grating. The repair costs 52,000 kroner.
u: The company in Utrecht is called Vanderlight and answers within a week, they say.
# 2025-09-09 19:25
u: My email address is mira@brightwater.example since yesterday.
u: The old address at the optics company is dead.
# 2025-09-22 18:30
u: My landlord Odd raised the rent to 10,400 kroner from October.
u: I said that the silence should be included then.
# 2025-10-12 20:05
u: I moved to Sommarøy, into a red house by the water.
u: The house number is 12 and the mailbox is a former bird house.
a: How long is your way to the observatory now?
u: An hour by car. I listen to Portuguese verbs.
# 2025-11-20 06:15
u: Ife had the baby early: a girl, Adaeze, 2.9 kilograms.
u: I am an aunt! I fly to Lagos on the 3rd of December.
`;

/** One thing that was said. */
export interface Said {
  /** Part and place in it, both from 1, such as `13.2`. */
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly text: string;
  /** Milliseconds since 1970; a minute after the one before it. */
  readonly atMs: number;
  readonly place?: { readonly lat: number; readonly lon: number };
}

/** One part of the conversation. */
export interface Part {
  readonly said: readonly Said[];
  /** Messages of this part or earlier that were removed after it. */
  readonly forgotten: readonly string[];
}

const MINUTE_MS = 60_000;

function partOf(block: string, index: number): Part {
  const [head, ...lines] = block.trim().split('\n');
  const [day, time, where] = head!.split(' ');
  const startMs = Date.parse(`${day}T${time}:00Z`);
  const [lat, lon] = where?.split(',').map(Number) ?? [];
  const place = lat === undefined || lon === undefined ? {} : { place: { lat, lon } };
  const said = lines
    .filter((line) => !line.startsWith('forget:'))
    .map((line, at): Said => {
      const role = line.startsWith('u: ') ? 'user' : 'assistant';
      return { id: `${index + 1}.${at + 1}`, role, text: line.slice(3), atMs: startMs + at * MINUTE_MS, ...place };
    });
  return { said, forgotten: lines.filter((line) => line.startsWith('forget:')).flatMap((line) => line.slice(8).split(' ')) };
}

/** The parts in their order. */
export const PARTS: readonly Part[] = TEXT.split(/^# /m).slice(1).map(partOf);
