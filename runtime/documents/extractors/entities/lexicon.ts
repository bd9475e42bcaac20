const words = (list: string): ReadonlySet<string> => new Set(list.toLowerCase().split(' '));
const phrases = (list: string): ReadonlySet<string> => new Set(list.toLowerCase().split(', '));

/** What stands before a person's name. */
export const TITLES = words(
  'mr mrs ms miss dr prof professor sir dame lord lady rev president chancellor minister senator governor mayor judge justice king queen ' +
    'prince princess pope captain colonel general sergeant ceo cto cfo chairman chairwoman director secretary ambassador inspector',
);
/** Common given names: one with a capitalised word behind it is a person. */
export const GIVEN_NAMES = words(
  'james john robert michael william david richard joseph thomas charles christopher daniel matthew anthony mark donald steven paul andrew ' +
    'joshua kenneth kevin brian george edward ronald timothy jason jeffrey ryan jacob gary nicholas eric jonathan stephen larry justin scott ' +
    'benjamin samuel gregory alexander frank patrick jack dennis jerry peter henry adam nathan douglas zachary walter kyle harold carl arthur ' +
    'albert lawrence louis martin oliver lucas ivan victor simon leo max hans klaus jürgen wolfgang pierre jean jacques françois luigi marco ' +
    'giovanni carlos juan jose luis pedro miguel ahmed mohammed muhammad ali omar hassan raj rahul amit wei chen hiroshi kenji alan ada linus ' +
    'mary patricia jennifer linda elizabeth barbara susan jessica sarah karen lisa nancy betty sandra margaret ashley kimberly emily donna ' +
    'michelle carol amanda melissa deborah stephanie rebecca sharon laura cynthia dorothy amy kathleen angela shirley emma brenda pamela nicole ' +
    'anna samantha katherine christine helen debra rachel carolyn janet maria catherine heather diane olivia julie joyce victoria ruth virginia ' +
    'lauren kelly christina joan evelyn judith andrea hannah megan alice jane grace sophie sophia charlotte julia marie claire isabella ingrid ' +
    'elena natasha olga svetlana fatima aisha priya mei yuki grete greta clara eva lena nina rosa marta marie',
);
/** Last words of an organisation's name. */
export const ORG_ENDS = words(
  'inc corp corporation ltd llc llp plc gmbh ag sa company co university institute college school bank group association foundation agency ' +
    'ministry department committee council commission technologies labs laboratories society party union court organization organisation ' +
    'federation partners holdings industries systems software solutions airlines motors pharmaceuticals consortium parliament senate congress ' +
    'times post journal news press',
);
/** First words of an organisation's name that goes on with "of" or "for". */
export const ORG_STARTS = words(
  'university bank department ministry institute bureau office board house college council academy center centre',
);
/** Organisations known by name. */
export const ORGS = phrases(
  'google, microsoft, apple, amazon, facebook, meta, ibm, intel, nvidia, openai, anthropic, mozilla, oracle, samsung, sony, toyota, siemens, ' +
    'bmw, volkswagen, boeing, airbus, nasa, nato, unesco, unicef, who, fbi, cia, eu, european union, united nations, world bank, red cross, ' +
    'bbc, cnn, reuters, github, wikipedia, twitter, netflix, tesla, spacex, linkedin, paypal, walmart',
);
/** Last words of an event's name. */
export const EVENT_ENDS = words(
  'olympics olympiad festival conference summit championship championships games expo revolution awards congress marathon symposium workshop ' +
    'hurricane earthquake',
);
/** Last words of a law's name. */
export const LAW_ENDS = words('act treaty constitution regulation directive amendment convention protocol bill statute ordinance accord');
/** Laws known by name. */
export const LAWS = phrases('gdpr, hipaa, ccpa, magna carta, bill of rights, sarbanes-oxley, dmca');
/** Last words of the name of something built. */
export const FACILITY_ENDS = words(
  'airport bridge stadium tower station building hospital museum hall center centre highway street avenue boulevard square park palace ' +
    'castle cathedral theatre theater library road arena tunnel dam harbour harbor',
);
/** Last words of a landscape's name. */
export const PLACE_ENDS = words(
  'river lake mountain mountains ocean sea valley island islands desert bay peninsula forest coast canyon glacier falls plateau strait hills',
);
/** First words of a landscape's name. */
export const PLACE_STARTS = words('mount lake cape gulf bay isle strait');
/** Landscapes known by name. */
export const PLACES = phrases(
  'africa, asia, europe, north america, south america, antarctica, oceania, alps, andes, himalayas, sahara, amazon basin, arctic, pacific, ' +
    'atlantic, mediterranean, middle east, scandinavia, balkans, siberia',
);
/** Products known by name; a number or edition may follow. */
export const PRODUCTS = words(
  'iphone ipad macbook windows android ios macos linux ubuntu debian galaxy pixel playstation xbox kindle photoshop excel powerpoint python ' +
    'javascript typescript postgresql mysql sqlite redis docker kubernetes tensorflow pytorch chatgpt gpt llama gemini firefox chrome safari ' +
    'alexa siri prius corvette mustang',
);
/** What follows the name of a product. */
export const EDITIONS = words('pro plus max ultra mini air lite se xl server enterprise home');
/** Capitalised words that name nothing by themselves. */
export const PLAIN = words(
  'monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november ' +
    'december i chapter section table figure page part step note example appendix english german french spanish italian',
);

const CITIES = phrases(
  'new york, new york city, los angeles, chicago, houston, phoenix, philadelphia, san antonio, san diego, dallas, san francisco, seattle, ' +
    'denver, boston, washington, detroit, atlanta, miami, las vegas, portland, london, paris, berlin, munich, hamburg, cologne, frankfurt, ' +
    'vienna, zurich, geneva, bern, rome, milan, naples, madrid, barcelona, lisbon, porto, amsterdam, rotterdam, brussels, copenhagen, ' +
    'stockholm, oslo, helsinki, dublin, edinburgh, manchester, warsaw, prague, budapest, bucharest, sofia, athens, istanbul, moscow, kyiv, ' +
    'tokyo, osaka, kyoto, beijing, shanghai, shenzhen, seoul, taipei, bangkok, hanoi, jakarta, manila, kuala lumpur, mumbai, delhi, new delhi, ' +
    'bangalore, kolkata, karachi, dhaka, tehran, baghdad, riyadh, dubai, abu dhabi, jerusalem, tel aviv, cairo, lagos, nairobi, johannesburg, ' +
    'cape town, casablanca, toronto, montreal, vancouver, ottawa, mexico city, havana, bogota, lima, santiago, buenos aires, rio de janeiro, ' +
    'sao paulo, brasilia, caracas, sydney, melbourne, canberra, auckland, wellington, alabama, alaska, arizona, california, colorado, ' +
    'connecticut, florida, hawaii, illinois, massachusetts, michigan, minnesota, nevada, new jersey, ohio, oregon, pennsylvania, texas, utah, ' +
    'vermont, wisconsin, bavaria, tuscany, catalonia, scotland, wales, england, usa, uk, u.s., united states of america',
);
/** Codes of ISO 3166-1, whose English names the runtime's locale tables give. */
const REGIONS =
  'AE AF AL AM AO AR AT AU AZ BA BD BE BG BH BI BJ BO BR BS BT BW BY BZ CA CD CF CG CH CL CM CN CO CR CU CY CZ DE DJ DK DO DZ EC EE EG ER ES ET ' +
  'FI FJ FR GA GB GE GH GM GN GR GT GW GY HN HR HT HU ID IE IL IN IQ IR IS IT JM JO JP KE KG KH KP KR KW KZ LA LB LK LR LS LT LU LV LY MA MD ME ' +
  'MG MK ML MN MR MT MU MV MW MX MY MZ NA NE NG NI NL NO NP NZ OM PA PE PG PH PK PL PS PT PY QA RO RS RU RW SA SD SE SG SI SK SL SN SO SR SS SV ' +
  'SY TD TG TH TJ TM TN TR TT TW TZ UA UG US UY UZ VE VN YE ZA ZM ZW';
const regionNames = new Intl.DisplayNames('en', { type: 'region' });

/** Countries, states and cities, in lower case. */
export const COUNTRIES_AND_CITIES: ReadonlySet<string> = new Set([
  ...CITIES,
  ...REGIONS.split(' ').map((code) => regionNames.of(code)!.toLowerCase()),
]);
