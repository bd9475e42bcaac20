"""Values of the profiles: prices and times of one text have one style, years and ages one order."""
from . import lexicon as lex
from . import names as n


def one(text):
    words = text.split(",")
    return lambda r, style: r.choice(words)


def hour(low, high):
    """A full or half hour between the two, in the style of the text."""
    def draw(r, style):
        at, half = r.randint(low, high), r.random() < 0.4
        if style < 0.5:
            return f"{(at - 1) % 12 + 1}{':30' if half else ''} {'am' if at < 12 else 'pm'}"
        if style < 0.8:
            return f"{at}:{'30' if half else '00'}"
        words = ["twelve", "one", *lex.NUMBER_WORDS[:10]]
        return f"half past {words[at % 12]}" if half else f"{words[at % 12]} o'clock"
    return draw


def money(low, high):
    """A price in the currency of the text."""
    def draw(r, style):
        amount = str(r.randint(low, high)) if r.random() < 0.6 or high > 100 else f"{r.randint(low, high)}.{r.choice(['50', '20', '80'])}"
        form = ["{} euros", "{} pounds", "${}", "€{}", "{} dollars", "{} francs", "{} crowns"][int(style * 7)]
        return form.format(amount)
    return draw


def years(low, high):
    return lambda r, style: str(r.randint(low, high))


def hours(r, style):
    opened, shut = hour(7, 11)(r, style), hour(13, 20)(r, style)
    return f"from {opened} to {shut}"


def duo(r, style):
    """Two owners as one name."""
    name, kin = n.last(r), r.choice(["his sister", "her brother", "his wife", "her husband", "his son", "her daughter", "his cousin", "her aunt"])
    return r.choice([f"{name} and {kin} {n.first(r)}", f"{n.first(r)} {name} and {kin} {n.first(r)}", f"{n.first(r)} and {n.first(r)} {name}", f"the {name} family"])


def owner(r, style):
    return duo(r, style) if r.random() < 0.4 else full(r, style)


def full(r, style):
    return f"{n.first(r)} {n.last(r)}"


def several(text):
    """One, two or three of the words as a list."""
    words = text.split(",")

    def draw(r, style):
        picked = r.sample(words, r.choice([1, 1, 2, 2, 3]))
        return picked[0] if len(picked) == 1 else ", ".join(picked[:-1]) + " and " + picked[-1]
    return draw


SLOTS = {
    "open": hour(7, 11), "shut": hour(13, 21), "dawn": hour(5, 10), "dusk": hour(15, 22), "hours": hours, "high": money(12, 40), "low": money(2, 11), "big": money(120, 900),
    "early": years(1840, 1959), "mid": years(1960, 1994), "late": years(1995, 2025), "owner": owner, "full": full, "duo": duo, "first": lambda r, style: n.first(r), "town": lambda r, style: n.place(r),
    "street": lambda r, style: f"{n.proper(r)} {r.choice(['Street', 'Road', 'Lane', 'Square'])}", "young": years(4, 17), "grown": years(18, 39), "oldage": years(40, 96), "small": years(3, 40), "large": years(41, 900),
    "wday": lambda r, style: r.choice(lex.DAYS), "trade": lambda r, style: r.choice([x for x in lex.ROLES if " " not in x]), "thing": lambda r, style: n.object_(r), "hue": one("red,blue,green,yellow,black,white,grey,orange,purple,brown"),
    "bread": several("rye bread,seed rolls,plum cake,walnut bread,cheese rolls,cinnamon buns,apple tart,oat bread,poppy seed rolls,honey cake,potato bread,almond biscuits,onion bread,raisin buns,pretzels"),
    "dish": one("fish soup,roast lamb,mushroom risotto,bean stew,potato omelette,onion pie,grilled trout,lentil curry,goulash,cheese pie,spinach lasagne,duck with red cabbage,pea soup with bacon,pepper stew,baked cod,chicken with rice"),
    "drink": one("mulled wine,apple juice,iced coffee,ginger tea,hot chocolate,lemonade,mint tea,cider,buttermilk,elderflower water"), "fruit": several("apples,pears,plums,cherries,strawberries,grapes,figs,quinces,peaches,gooseberries,melons"),
    "vegetable": several("leeks,cabbage,carrots,turnips,pumpkins,beans,tomatoes,onions,spinach,beetroot"), "wares": several("old maps,second-hand books,wool socks,clay pots,lamps,clocks,bicycle parts,garden tools,teapots,cheese graters,candles,wooden toys,umbrellas,stamps,knives,hats,baskets"),
    "books": several("novels,picture books,atlases,cookbooks,poems,school books,comics,travel guides,crime stories,plays,dictionaries"), "shown": one("farm tools,old clocks,puppets,coins,glass,fossils,costumes,radios,ship models,weapons,carpets,stuffed birds,Roman pots,steam engines,photographs"),
    "room": several("the kitchen,two bedrooms,the library,a workshop,the bathroom,an office,the dining room,a nursery,the laundry,a music room,the study,a store room"), "job": one("nurse,baker,teacher,plumber,journalist,dentist,bus driver,carpenter,librarian,painter,lawyer,farmer,chemist,tailor,postman,electrician,gardener,translator,sailor,cook,midwife,pharmacist"),
    "hobby": one("fishing,chess,pottery,singing,rock climbing,bird watching,gardening,dancing,sailing,knitting,painting,cycling,fencing,rowing,archery,carving wood"), "outdoor": one("swims in the lake,picks berries,repairs boats,sells ice cream,leads hikers,keeps bees,sails,plays tennis,works in the vineyard,mows the meadows"),
    "indoor": one("knits sweaters,repairs clocks,teaches skiing,carves spoons,writes letters,plays chess,restores chairs,binds books,cooks jam,builds model trains"), "sport": one("judo,fencing,table tennis,gymnastics,handball,badminton,wrestling,basketball,hockey,boxing,yoga,diving,water polo,volleyball"),
    "subject": one("history,chemistry,music,French,mathematics,geography,biology,Latin,art,physics,Spanish,woodwork,drama"), "animal": several("goats,sheep,geese,pigs,ducks,horses,donkeys,hens,rabbits,turkeys,cows,bees"), "crop": one("barley,potatoes,wheat,hay,maize,oats,rapeseed,sugar beet,flax,hops"),
    "feed": one("chopped apples,fish,sunflower seeds,boiled eggs,oats,lettuce,dry biscuits,hay,carrots,minced beef,mealworms,rice with chicken"), "spot": one("under the stove,in a basket by the door,on the roof,in the barn,behind the sofa,in the bathtub,on the window sill,in a wooden box,under the stairs,in the hayloft"),
    "pass": several("Latin songs,waltzes,folk songs,marches,hymns,film music,ballads,sea shanties,carols"), "instrument": one("the violin,the flute,the drums,the organ,the cello,the trumpet,the harp,the clarinet,the accordion,the tuba"), "film": lambda r, style: f"{n.title(r)}",
    "walk": one("climb to the castle,rest at the lake,visit a salt mine,ride through the forest,cross the pass,see the old harbour,paddle down the river,taste wine in a cellar,look at rock carvings,swim in a hot spring"), "vehicle": one("by bus,by train,on foot,by boat,by bicycle,by cable car,on horseback,by ferry,by tram"),
    "part": one("the pump,the belt,the filter,the motor,the valve,the blade,the fan,the display,the door lock,the battery"), "act": one("washes bottles,grinds coffee,cuts paper,presses apples,folds letters,sorts screws,mixes dough,peels potatoes,seals boxes,prints labels,dries wood,shells nuts"), "program": one("rinse,spin,dry,heat,cool down,empty the tank,stop,clean itself,start again"),
    "month": lambda r, style: r.choice(lex.MONTHS), "time_of": one("the kitchen,the bar,the garden,the books,the cellar,the website,the deliveries,the front desk,the workshop,the laundry"), "plant": one("roses,lavender,tulips,ferns,palms,dahlias,orchids,herbs,lilies,cacti,irises"), "flat": one("a dentist,a law firm,a piano teacher,two students,a retired judge,a couple with a baby,an architect,a photographer,a tax adviser,a yoga studio"),
    "event": one("a flea market,a chess tournament,a lantern parade,a boat race,a wine tasting,a poetry evening,a harvest fair,a dog show,a concert,a book sale"), "illness": one("eye tests,blood tests,vaccinations,check-ups for babies,X-rays,home visits,foot care,dressing of wounds"), "gift": one("a kite,a fountain pen,a silver spoon,a tent,a globe,a teapot,a guitar,a puzzle,a woollen blanket,a telescope"),
    "view": one("the harbour,a car park,the mountains,an orchard,the cathedral,the railway,a vineyard,the sea,a school yard,the market square,a quarry,the river"), "last": lambda r, style: n.last(r), "sportful": one("fishing,swimming,riding,climbing,sailing,dancing,skating,running,rowing,bowling,skiing,cycling"),
    "stone": one("granite,brick,oak,limestone,concrete,sandstone,slate,iron,marble,pine"), "use": one("a prison,a post office,a stable,a granary,a hospital,a barracks,a customs house,a chapel,a youth hostel,a dance hall,a school,a museum,a weaving mill,a bank"), "language": one("Polish,Dutch,Danish,Italian,Greek,Welsh,Turkish,Finnish,Portuguese,Czech"), "platform": years(1, 19), "few": one("two,three,four,five,six,seven,eight,nine,ten,eleven,twelve"),
}
