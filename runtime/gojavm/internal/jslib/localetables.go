package jslib

// currencySymbols are the symbols of English (United States); a currency that is
// not here has its code for one.
var currencySymbols = map[string]string{
	"XXX": "¤",
	"AUD": "A$", "BRL": "R$", "CAD": "CA$", "CNY": "CN¥", "EUR": "€", "GBP": "£", "HKD": "HK$", "ILS": "₪", "INR": "₹",
	"JPY": "¥", "KRW": "₩", "MXN": "MX$", "NZD": "NZ$", "PHP": "₱", "TWD": "NT$", "USD": "$", "VND": "₫", "XAF": "FCFA",
	"XCD": "EC$", "XCG": "Cg.", "XOF": "F CFA", "XPF": "CFPF",
}

// narrowSymbols are what currencyDisplay "narrowSymbol" prefers.
var narrowSymbols = map[string]string{
	"AFN": "؋", "AMD": "֏", "AOA": "Kz", "ARS": "$", "AUD": "$", "AZN": "₼", "BAM": "KM", "BBD": "$", "BDT": "৳",
	"BMD": "$", "BND": "$", "BOB": "Bs", "BSD": "$", "BWP": "P", "BZD": "$", "CAD": "$", "CLP": "$", "CNY": "¥",
	"COP": "$", "CRC": "₡", "CUC": "$", "CUP": "$", "CZK": "Kč", "DKK": "kr", "DOP": "$", "EGP": "E£", "FJD": "$",
	"FKP": "£", "GEL": "₾", "GHS": "GH₵", "GIP": "£", "GNF": "FG", "GTQ": "Q", "GYD": "$", "HKD": "$", "HNL": "L",
	"HRK": "kn", "HUF": "Ft", "IDR": "Rp", "ISK": "kr", "JMD": "$", "KGS": "⃀", "KHR": "៛", "KMF": "CF", "KPW": "₩",
	"KYD": "$", "KZT": "₸", "LAK": "₭", "LBP": "L£", "LKR": "Rs", "LRD": "$", "MGA": "Ar", "MMK": "K", "MNT": "₮",
	"MUR": "Rs", "MXN": "$", "MYR": "RM", "NAD": "$", "NGN": "₦", "NIO": "C$", "NOK": "kr", "NPR": "Rs", "NZD": "$",
	"PKR": "Rs", "PLN": "zł", "PYG": "₲", "RON": "lei", "RUB": "₽", "RWF": "RF", "SBD": "$", "SEK": "kr", "SGD": "$",
	"SHP": "£", "SRD": "$", "SSP": "£", "STN": "Db", "SYP": "£", "THB": "฿", "TOP": "T$", "TRY": "₺", "TTD": "$",
	"TWD": "$", "UAH": "₴", "UYU": "$", "XCD": "$", "ZAR": "R", "ZMW": "ZK",
}

// localSymbols are the symbols that differ elsewhere.
var localSymbols = map[string]map[string]string{
	"en-GB": {"JPY": "JP¥", "USD": "US$"},
	"en-IE": {"JPY": "JP¥", "USD": "US$"},
	"en-NZ": {"JPY": "JP¥", "USD": "US$", "NZD": "$"},
	"en-CA": {"JPY": "JP¥", "USD": "US$", "CAD": "$", "XCG": "Cg"},
}

// currencyDigits are the digits after the point of currencies that have not two.
var currencyDigits = map[string]int{
	"CLF": 4, "UYW": 4,
	"AFN": 0, "ALL": 0, "BIF": 0, "CLP": 0, "COP": 0, "DJF": 0, "GNF": 0, "HUF": 0, "IDR": 0, "IQD": 0, "IRR": 0, "ISK": 0,
	"JPY": 0, "KMF": 0, "KPW": 0, "KRW": 0, "LAK": 0, "LBP": 0, "MGA": 0, "MMK": 0, "PKR": 0, "PYG": 0, "RWF": 0, "SLL": 0,
	"SOS": 0, "SYP": 0, "UGX": 0, "VND": 0, "VUV": 0, "XAF": 0, "XOF": 0, "XPF": 0, "YER": 0, "BHD": 3, "JOD": 3, "KWD": 3,
	"LYD": 3, "OMR": 3, "TND": 3,
}

// currencyNames are the singular and plural of names.
var currencyNames = map[string][2]string{
	"USD": {"US dollar", "US dollars"}, "EUR": {"euro", "euros"}, "GBP": {"British pound", "British pounds"}, "JPY": {"Japanese yen", "Japanese yen"},
	"INR": {"Indian rupee", "Indian rupees"}, "CNY": {"Chinese yuan", "Chinese yuan"}, "KRW": {"South Korean won", "South Korean won"}, "BRL": {"Brazilian real", "Brazilian reals"},
	"CAD": {"Canadian dollar", "Canadian dollars"}, "AUD": {"Australian dollar", "Australian dollars"}, "MXN": {"Mexican peso", "Mexican pesos"}, "NZD": {"New Zealand dollar", "New Zealand dollars"},
	"HKD": {"Hong Kong dollar", "Hong Kong dollars"}, "ILS": {"Israeli new shekel", "Israeli new shekels"}, "VND": {"Vietnamese dong", "Vietnamese dong"}, "TWD": {"New Taiwan dollar", "New Taiwan dollars"},
	"PHP": {"Philippine peso", "Philippine pesos"}, "CHF": {"Swiss franc", "Swiss francs"}, "SEK": {"Swedish krona", "Swedish kronor"}, "NOK": {"Norwegian krone", "Norwegian kroner"},
	"DKK": {"Danish krone", "Danish kroner"}, "PLN": {"Polish zloty", "Polish zlotys"}, "CZK": {"Czech koruna", "Czech korunas"}, "HUF": {"Hungarian forint", "Hungarian forints"},
	"RUB": {"Russian ruble", "Russian rubles"}, "TRY": {"Turkish lira", "Turkish Lira"}, "ZAR": {"South African rand", "South African rand"}, "THB": {"Thai baht", "Thai baht"},
	"SGD": {"Singapore dollar", "Singapore dollars"}, "MYR": {"Malaysian ringgit", "Malaysian ringgits"}, "IDR": {"Indonesian rupiah", "Indonesian rupiahs"}, "AED": {"UAE dirham", "UAE dirhams"},
	"SAR": {"Saudi riyal", "Saudi riyals"}, "EGP": {"Egyptian pound", "Egyptian pounds"}, "NGN": {"Nigerian naira", "Nigerian nairas"}, "KES": {"Kenyan shilling", "Kenyan shillings"},
	"ARS": {"Argentine peso", "Argentine pesos"}, "CLP": {"Chilean peso", "Chilean pesos"}, "COP": {"Colombian peso", "Colombian pesos"}, "PEN": {"Peruvian sol", "Peruvian soles"},
	"UAH": {"Ukrainian hryvnia", "Ukrainian hryvnias"}, "RON": {"Romanian leu", "Romanian lei"}, "BGN": {"Bulgarian lev", "Bulgarian leva"}, "ISK": {"Icelandic króna", "Icelandic krónur"},
	"KWD": {"Kuwaiti dinar", "Kuwaiti dinars"}, "BHD": {"Bahraini dinar", "Bahraini dinars"}, "JOD": {"Jordanian dinar", "Jordanian dinars"}, "OMR": {"Omani rial", "Omani rials"},
	"TND": {"Tunisian dinar", "Tunisian dinars"}, "QAR": {"Qatari riyal", "Qatari riyals"}, "MAD": {"Moroccan dirham", "Moroccan dirhams"}, "PKR": {"Pakistani rupee", "Pakistani rupees"},
	"BDT": {"Bangladeshi taka", "Bangladeshi takas"}, "LKR": {"Sri Lankan rupee", "Sri Lankan rupees"}, "GHS": {"Ghanaian cedi", "Ghanaian cedis"},
}

// unitText is how a unit stands behind a number: short, narrow, and in full for
// one and for more. What begins with a space is set off.
type unitText struct{ short, shorts, narrow, one, many string }

var unitTexts = map[string]unitText{
	"acre": {" ac", " ac", "ac", "acre", "acres"}, "bit": {" bit", " bit", "bit", "bit", "bits"},
	"byte": {" byte", " byte", "B", "byte", "bytes"}, "celsius": {"°C", "°C", "°C", "degree Celsius", "degrees Celsius"},
	"centimeter": {" cm", " cm", "cm", "centimeter", "centimeters"}, "day": {" day", " days", "d", "day", "days"},
	"degree": {" deg", " deg", "°", "degree", "degrees"}, "fahrenheit": {"°F", "°F", "°", "degree Fahrenheit", "degrees Fahrenheit"},
	"fluid-ounce": {" fl oz", " fl oz", "fl oz", "fluid ounce", "fluid ounces"}, "foot": {" ft", " ft", "′", "foot", "feet"},
	"gallon": {" gal", " gal", "gal", "gallon", "gallons"}, "gigabit": {" Gb", " Gb", "Gb", "gigabit", "gigabits"},
	"gigabyte": {" GB", " GB", "GB", "gigabyte", "gigabytes"}, "gram": {" g", " g", "g", "gram", "grams"},
	"hectare": {" ha", " ha", "ha", "hectare", "hectares"}, "hour": {" hr", " hr", "h", "hour", "hours"},
	"inch": {" in", " in", "″", "inch", "inches"}, "kilobit": {" kb", " kb", "kb", "kilobit", "kilobits"},
	"kilobyte": {" kB", " kB", "kB", "kilobyte", "kilobytes"}, "kilogram": {" kg", " kg", "kg", "kilogram", "kilograms"},
	"kilometer": {" km", " km", "km", "kilometer", "kilometers"}, "liter": {" L", " L", "L", "liter", "liters"},
	"megabit": {" Mb", " Mb", "Mb", "megabit", "megabits"}, "megabyte": {" MB", " MB", "MB", "megabyte", "megabytes"},
	"meter": {" m", " m", "m", "meter", "meters"}, "microsecond": {" μs", " μs", "μs", "microsecond", "microseconds"},
	"mile": {" mi", " mi", "mi", "mile", "miles"}, "mile-scandinavian": {" smi", " smi", "smi", "mile-scandinavian", "miles-scandinavian"},
	"milliliter": {" mL", " mL", "mL", "milliliter", "milliliters"}, "millimeter": {" mm", " mm", "mm", "millimeter", "millimeters"},
	"millisecond": {" ms", " ms", "ms", "millisecond", "milliseconds"}, "minute": {" min", " min", "m", "minute", "minutes"},
	"month": {" mth", " mths", "m", "month", "months"}, "nanosecond": {" ns", " ns", "ns", "nanosecond", "nanoseconds"},
	"ounce": {" oz", " oz", "oz", "ounce", "ounces"}, "percent": {"%", "%", "%", "percent", "percent"},
	"petabyte": {" PB", " PB", "PB", "petabyte", "petabytes"}, "pound": {" lb", " lb", "#", "pound", "pounds"},
	"second": {" sec", " sec", "s", "second", "seconds"}, "stone": {" st", " st", "st", "stone", "stones"},
	"terabit": {" Tb", " Tb", "Tb", "terabit", "terabits"}, "terabyte": {" TB", " TB", "TB", "terabyte", "terabytes"},
	"week": {" wk", " wks", "w", "week", "weeks"}, "yard": {" yd", " yd", "yd", "yard", "yards"},
	"year": {" yr", " yrs", "y", "year", "years"},
}

// perUnits are units behind a slash that are spelled otherwise than alone.
var perUnits = map[string]string{
	"day": "d", "hour": "h", "minute": "min", "month": "m", "second": "s", "week": "w", "year": "y",
}

// speeds are compound units with a sign of their own.
var speeds = map[string]string{"mile-per-hour": "mph", "mile-per-gallon": "mpg"}
